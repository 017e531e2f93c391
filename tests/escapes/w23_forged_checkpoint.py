# id: w23_forged_checkpoint
# kind: wire
# tries: a checkpoint whose nodes point nowhere, at each other, and are of no known kind
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    for nodes in ([['list', 99]], [['list', 0], ['dict', 1]], [['pickle', 'x']], [{}], [['tuple', 0]], [['int', 'zz']], [None] * 100000):
        body = m.encode(['Entered', 1, [{'a': 0, 'b': 50}, nodes, {}]])
        os.write(3, len(body).to_bytes(4, 'big') + body)
    body = m.encode(['End', 'failed', None, 1, 'E', 'm', 0.0, 0.0, [{'a': 0}, [['list', 99]], {}]])
    os.write(3, len(body).to_bytes(4, 'big') + body)
    if start_from <= 1:
        assert False
