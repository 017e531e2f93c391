# kind: process
# tries: priorities, schedulers, processor masks and limits tell which processes exist
# a correct runtime must: refuse the call or end the worker; no process of the host is found
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    buffer = (ctypes.c_long * 16)()
    for pid in range(1, 3000):
        for call in ((302, pid, 9, None, buffer), (140, 0, pid), (145, pid), (204, pid, 128, buffer), (121, pid)):
            if libc.syscall(*call) >= 0: print('CANARY-PID', pid, call)
