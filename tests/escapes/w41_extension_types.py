# kind: frames
# tries: msgpack's extension types: time stamps, types of one's own
# layer: cage
def solution(agent, start_from=1):
    import os
    for value in (b'\xd6\xff\x00\x00\x00\x00', b'\xc7\x05\x2a12345', b'\xd8\xff' + b'\xff' * 16, b'\xc4\x01x'):
        body = b'\x94\xa9CallFrame\xa4goto\x91' + value + b'\x80'
        os.write(3, len(body).to_bytes(4, 'big') + body)
    while True: pass
