# id: t62_clock_of_a_thread
# kind: process
# tries: thread clocks, by the system call itself and with upper bits set
# a correct runtime must: refuse the call or end the worker; no process of the host is found
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    answer = (ctypes.c_long * 2)()
    for upper in (0, 1 << 32, 0xFFFFFFFF << 32):
        for pid in range(1, 20000):
            number = (((~pid << 3) | 6) & 0xFFFFFFFF) | upper
            if libc.syscall(228, ctypes.c_ulong(number), answer) == 0: print('CANARY-THREAD', pid)
