# id: w59_line_beyond
# kind: frames
# tries: an end whose line and processor time are beyond all bounds
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    body = m.encode(['EndFrame', 'failed', None, 2**52, 'E', 'm', 1e17, 1e17, [{}, [], {}]])
    os.write(3, len(body).to_bytes(4, 'big') + body)
