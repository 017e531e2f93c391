# kind: frames
# tries: an end whose message and error name are megabytes
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    body = m.encode(['EndFrame', 'failed', None, 1, 'E' * 10**5, 'x' * 10**6, 0.0, 0.0, [{}, [], {}]])
    os.write(3, len(body).to_bytes(4, 'big') + body)
