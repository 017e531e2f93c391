# id: w67_tiny_arguments
# kind: frames
# tries: a call with a million empty lists and maps for arguments, refused only after it was read
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    for one in (b'\x90', b'\x80'):
        body = b'\x94\xa9CallFrame\xa4goto\xdd' + (1_200_000).to_bytes(4, 'big') + one * 1_200_000 + b'\x80'
        os.write(3, len(body).to_bytes(4, 'big') + body)
