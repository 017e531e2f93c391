# id: w50_map_frame
# kind: frames
# tries: a frame in the other form that the codec knows, a map with the kind in it
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    body = m.encode({'type': 'OutputFrame', 'text': 'FORGED'})
    os.write(3, len(body).to_bytes(4, 'big') + body)
