# kind: frames
# tries: waits and sleeps of the greatest length, without an open call and with one
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    while True:
        os.write(3, frames.pack(frames.WaitFrame(1e6)))
        os.read(3, 1 << 16)
