# id: w48_big_ints_in_tables
# kind: wire
# tries: nodes that cost more to read than to write: ints of a million digits, references that double
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    doubling = [['list', [i + 1, i + 1]] for i in range(60)] + ['x']
    for nodes in ([['int', '9' * 10**5]], [['int', 'f' * 10**5]], doubling, [['l', i + 1, i + 1] for i in range(60)]):
        body = m.encode(['End', 'failed', None, 1, 'E', 'm', 0.0, 0.0, [{'a': 0}, nodes, {}]])
        os.write(3, len(body).to_bytes(4, 'big') + body)
