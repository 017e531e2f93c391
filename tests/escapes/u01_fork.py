# id: u01_fork
# kind: process
# tries: fork, and go on in the child
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    if os.fork() == 0:
        open('@MARKER@', 'w')
        while True: pass
    print('CANARY-FORK')
