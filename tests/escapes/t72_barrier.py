# kind: kernel
# tries: membarrier interrupts all processors of the machine, again and again
# a correct runtime must: refuse the call or end the worker
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    if any(libc.syscall(324, command, 0, 0) >= 0 for command in (1, 2, 4, 8, 16, 32, 64)): print('CANARY-BARRIER')
