# id: w09_dunder_method
# kind: wire
# tries: call a method that every Python object has
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox import wire
    os.write(3, wire.pack(wire.Call('__setattr__', ['location', 'FORGED'], {})))
    os.write(3, wire.pack(wire.Call('__reduce_ex__', [2], {})))
    print(os.read(3, 1000))
