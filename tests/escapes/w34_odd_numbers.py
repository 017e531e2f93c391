# id: w34_odd_numbers
# kind: wire
# tries: NaN, infinite and negative amounts, lines and steps beyond all bounds
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    nan = float('nan')
    for value, cpu, line, step in ((nan, nan, 1, None), (-1.0, 1e308, 2**60, None), (0.0, 0.0, -1, None), (0.0, 0.0, 1, 2**63 - 1), (float('inf'), 0.0, 1, None)):
        body = m.encode(['End', 'stopped', step, line, 'wall', '', value, cpu, [{}, [], {}]])
        os.write(3, len(body).to_bytes(4, 'big') + body)
