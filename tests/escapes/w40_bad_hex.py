# id: w40_bad_hex
# kind: frames
# tries: an argument that says it is an int and is no number
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.CallFrame('goto', [['int', 'zz']], {})))
    while True: pass
