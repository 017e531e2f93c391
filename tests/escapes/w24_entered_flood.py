# kind: frames
# tries: enter steps without end, each with a large table
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    table = frames.CheckpointTable({'a': 0}, ['x' * 200000], {})
    for step in range(1, 10**6):
        os.write(3, frames.pack(frames.StepFrame(step, table)))
    if start_from <= 1:
        assert False
