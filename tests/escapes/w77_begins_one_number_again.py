# kind: frames
# tries: one number for many calls
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    for n in (1, 1, 2, 1, 2**53, 3):
        os.write(3, frames.pack(frames.BeginFrame(n, 'goto', ['CANARY' if n > 3 else 'shelf 1'], {})))
    while True:
        os.read(3, 1 << 16)
