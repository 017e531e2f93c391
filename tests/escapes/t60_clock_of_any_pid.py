# kind: process
# tries: computed clock numbers tell which processes exist, and how long they have run
# a correct runtime must: refuse the call or end the worker; no process of the host is found
# layer: cage
def solution(agent, start_from=1):
    import os, time
    os.getpid()
    for pid in range(1, 70000):
        try:
            print('CANARY-CLOCK', pid, time.clock_gettime((~pid << 3) | 2))
            break
        except OSError:
            pass
