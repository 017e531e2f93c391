# id: w16_map_header
# kind: frames
# tries: maps and texts that say they are longer than their frame
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    for body in (b'\x94\xa9CallFrame\xa4goto\x90\xdf\xff\xff\xff\xff', b'\x92\xabOutputFrame\xdb\xff\xff\xff\xff', b'\xdd\xff\xff\xff\xff'):
        os.write(3, len(body).to_bytes(4, 'big') + body)
