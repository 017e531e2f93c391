# id: w63_long_int
# kind: frames
# tries: an argument that is an int of fifty thousand digits, which the agent will write out
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.CallFrame('goto', [['int', '0x' + 'f' * 50000]], {})))
    while True: pass
