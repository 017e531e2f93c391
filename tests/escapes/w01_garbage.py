# id: w01_garbage
# kind: frames
# tries: bytes that are no frame at all
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    os.write(3, bytes(range(256)) * 16)
    while True: pass
