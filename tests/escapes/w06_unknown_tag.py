# id: w06_unknown_tag
# kind: frames
# tries: a frame of a kind that there is not, which claims success
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    body = m.encode(['Success', True])
    os.write(3, len(body).to_bytes(4, 'big') + body)
