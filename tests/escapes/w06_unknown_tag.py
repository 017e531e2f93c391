# kind: frames
# tries: a frame of a kind that there is not, which claims success
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    body = m.encode(['Success', True])
    os.write(3, len(body).to_bytes(4, 'big') + body)
