# id: w34_nan_amount
# kind: frames
# tries: an end whose amounts are not numbers
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    nan = float('nan')
    body = m.encode(['EndFrame', 'stopped', None, 1, 'wall', '', nan, nan, [{}, [], {}]])
    os.write(3, len(body).to_bytes(4, 'big') + body)
