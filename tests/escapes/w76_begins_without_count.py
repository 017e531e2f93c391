# kind: frames
# tries: beginning calls past the worker's own count, without waiting
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    n = 0
    while True:
        n += 1
        os.write(3, frames.pack(frames.BeginFrame(n, 'goto', ['shelf 1'], {})))
