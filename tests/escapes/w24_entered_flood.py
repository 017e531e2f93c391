# id: w24_entered_flood
# kind: frames
# tries: enter steps without end, each with a large table
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    table = frames.CheckpointTable({'a': 0}, ['x' * 200000], {})
    for step in range(1, 10**6):
        os.write(3, frames.pack(frames.StepFrame(step, table)))
    if start_from <= 1:
        assert False
