# kind: frames
# tries: waits of no time without end: the host must not spin or write for ever
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.BeginFrame(1, 'goto', ['shelf 1'], {})))
    while True:
        os.write(3, frames.pack(frames.WaitFrame(0.0)))
        os.read(3, 1 << 16)
