# kind: frames
# tries: a call with a hundred thousand arguments, and one with as many keywords
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.CallFrame('goto', [0] * 200000, {})))
    os.write(3, frames.pack(frames.CallFrame('goto', [], {str(i): 0 for i in range(10**5)})))
    while True: pass
