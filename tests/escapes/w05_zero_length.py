# id: w05_zero_length
# kind: frames
# tries: frames of no bytes, without end
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    while True:
        os.write(3, bytes(4) * 4096)
