# id: w35_unknown_limit
# kind: frames
# tries: stopped by a limit that there is not
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.EndFrame('stopped', None, 1, '__class__', '', 1.0, 0.0, frames.CheckpointTable({}, [], {}))))
