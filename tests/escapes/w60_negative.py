# id: w60_negative
# kind: frames
# tries: an end with negative numbers
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    body = m.encode(['EndFrame', 'failed', None, -1, 'E', 'm', -1.0, -1.0, [{}, [], {}]])
    os.write(3, len(body).to_bytes(4, 'big') + body)
