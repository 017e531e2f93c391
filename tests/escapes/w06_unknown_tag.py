# id: w06_unknown_tag
# kind: wire
# tries: a frame of a kind that there is not, and one without a kind
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox import wire
    import msgspec.msgpack as m
    for value in (['Success', True], [], {}, None, 7, ['Printed'], ['Printed', 'a', 'b'], [['Printed'], 'x'], ['Frame']):
        body = m.encode(value)
        os.write(3, len(body).to_bytes(4, 'big') + body)
