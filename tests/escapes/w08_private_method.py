# kind: frames
# tries: call the agent's private method by a frame
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.CallFrame('_reset', [], {})))
    print(os.read(3, 1000))
