# id: w39_call_flood
# kind: frames
# tries: calls without end, past the worker's own count
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    while True:
        os.write(3, frames.pack(frames.CallFrame('goto', ['shelf 1'], {})))
        os.read(3, 1 << 16)
