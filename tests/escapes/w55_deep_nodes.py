# id: w55_deep_nodes
# kind: frames
# tries: a checkpoint of tuples, each within the next, forty thousand deep, as a key
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    body = m.encode(['EndFrame', 'failed', None, 1, 'E', 'm', 0.0, 0.0, [{'a': 0}, [['dict', 1, 1]] + [['tuple', i] for i in range(2, 40000)] + [['tuple']], {}]])
    os.write(3, len(body).to_bytes(4, 'big') + body)
