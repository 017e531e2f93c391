# id: w10_dotted_method
# kind: frames
# tries: a method's name with dots, with a NUL, a property's name, an inherited name
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.CallFrame('goto.__func__', [], {})))
    os.write(3, frames.pack(frames.CallFrame('location', [], {})))
    os.write(3, frames.pack(frames.CallFrame('goto\0', [], {})))
