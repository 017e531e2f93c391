# kind: frames
# tries: two requests at once, so that the answers come in another order than they are taken
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.AskFrame('first')) + frames.pack(frames.CallFrame('goto', ['shelf 1'], {})) + frames.pack(frames.ReadFrame('location')))
    print(agent.goto('drawer 1'))
    print(ask('second'))
