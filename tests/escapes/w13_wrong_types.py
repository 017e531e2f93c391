# kind: frames
# tries: frames with fields of the wrong types
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    for value in (['CallFrame', 5, [], {}], ['CallFrame', 'goto', {}, []], ['ReadFrame', None], ['AskFrame', 7], ['OutputFrame', b'x'], ['StepFrame', '1', None]):
        body = m.encode(value)
        os.write(3, len(body).to_bytes(4, 'big') + body)
