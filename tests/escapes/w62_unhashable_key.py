# id: w62_unhashable_key
# kind: frames
# tries: an argument that is a dict with a list as its key
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.CallFrame('goto', [['dict', ['list'], 1]], {})))
    while True: pass
