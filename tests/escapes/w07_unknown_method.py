# id: w07_unknown_method
# kind: frames
# tries: call methods that the agent's API does not have
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.CallFrame('no_such_method', [], {})))
    print(os.read(3, 1000))
