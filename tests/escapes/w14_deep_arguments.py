# kind: frames
# tries: an argument of a hundred thousand nested arrays
# layer: cage
def solution(agent, start_from=1):
    import os
    body = b'\x94\xa9CallFrame\xa4goto\x91' + b'\x91' * 100000 + b'\xc0\x80'
    os.write(3, len(body).to_bytes(4, 'big') + body)
    while True: pass
