# id: w19_invalid_utf8
# kind: frames
# tries: text that is no UTF-8
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    body = b'\x92\xabOutputFrame\xa4\xff\xfe\xed\xa0'
    os.write(3, len(body).to_bytes(4, 'big') + body)
