# id: w27_never_ending
# kind: frames
# tries: answer nothing, read for ever
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    while True:
        os.read(3, 1)
