# id: w21_forged_end_step
# kind: frames
# tries: end in a step that was never entered
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    empty = frames.CheckpointTable({}, [], {})
    os.write(3, frames.pack(frames.EndFrame('failed', 2, 1, 'AssertionError', 'FORGE', 0.0, 0.0, empty)))
    if start_from <= 1:
        assert False
    if start_from <= 2:
        assert False
