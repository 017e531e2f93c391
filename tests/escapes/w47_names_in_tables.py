# id: w47_names_in_tables
# kind: frames
# tries: variables with names that are no names: dunders, empty, very long, the runtime's
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    names = {'__builtins__': 0, '_getattr_': 0, 'agent': 0, 'start_from': 0, 'solution': 0, 'x y': 0, 'n' * 199: 0, 'print': 0}
    os.write(3, frames.pack(frames.EndFrame('failed', None, 1, 'ValueError', 'FORGED', 0.0, 0.0, frames.CheckpointTable(names, ['FORGED'], {}))))
