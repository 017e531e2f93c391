# id: w31_damaged_late
# kind: frames
# tries: say that the checkpoint was damaged, long after the start: who gets the error?
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.CheckpointErrorFrame('FORGED')))
    while True: pass
