# kind: frames
# tries: say the end, and go on: calls after it, a second end
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    empty = frames.CheckpointTable({}, [], {})
    os.write(3, frames.pack(frames.EndFrame('finished', None, None, '', '', 0.0, 0.0, empty)) + frames.pack(frames.CallFrame('goto', ['FORGED'], {})) * 10)
    while True: pass
