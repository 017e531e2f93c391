# id: w46_entered_twice
# kind: frames
# tries: enter the same step twice, and an earlier one after a later one
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    empty = frames.CheckpointTable({}, [], {})
    for step in (2, 1, 1, 2):
        os.write(3, frames.pack(frames.StepFrame(step, empty)))
    if start_from <= 1:
        assert False
    if start_from <= 2:
        assert False
