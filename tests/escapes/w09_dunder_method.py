# id: w09_dunder_method
# kind: frames
# tries: call a method that every Python object has
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.CallFrame('__setattr__', ['location', 'FORGED'], {})))
    os.write(3, frames.pack(frames.CallFrame('__reduce_ex__', [2], {})))
    print(os.read(3, 1000))
