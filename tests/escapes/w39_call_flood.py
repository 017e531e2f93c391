# kind: frames
# tries: calls without end, past the worker's own count
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    while True:
        os.write(3, frames.pack(frames.CallFrame('goto', ['shelf 1'], {})))
        os.read(3, 1 << 16)
