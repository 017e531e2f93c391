# id: w45_duplicate_keys
# kind: frames
# tries: maps with the same key twice, and tables with more names than nodes
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    body = b'\x94\xa9CallFrame\xa4goto\x90\x82\xa1a\x01\xa1a\x02'
    os.write(3, len(body).to_bytes(4, 'big') + body)
    while True: pass
