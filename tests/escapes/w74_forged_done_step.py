# kind: frames
# tries: claim that a replan ended a step which no replan ends
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    empty = frames.CheckpointTable({}, [], {})
    if start_from <= 1:
        os.write(3, frames.pack(frames.EndFrame('replan', 1, 10, '', 'FORGE', 0.0, 0.0, empty, True)))
        assert False
    if start_from <= 2:
        assert False
