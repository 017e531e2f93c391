# kind: process
# tries: the resolution of a computed clock exists only if the process does
# a correct runtime must: refuse the call or end the worker; no process of the host is found
# layer: cage
def solution(agent, start_from=1):
    import os, time
    os.getpid()
    for pid in range(1, 70000):
        try:
            print('CANARY-RESOLUTION', pid, time.clock_getres((~pid << 3) | 2))
            break
        except OSError:
            pass
