# id: w26_close_the_socket
# kind: frames
# tries: close the job's socket and stay alive
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    os.close(3)
    while True: pass
