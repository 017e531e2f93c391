# id: w57_flat_flood
# kind: frames
# tries: a checkpoint of as many empty lists as fit into a frame
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    body = m.encode(['EndFrame', 'failed', None, 1, 'E', 'm', 0.0, 0.0, [{'a': 0}, [['list']] * 200000, {}]])
    os.write(3, len(body).to_bytes(4, 'big') + body)
