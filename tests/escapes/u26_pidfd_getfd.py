# kind: kernel
# tries: pidfd_getfd: take a descriptor out of the parent
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).syscall(438, 3, 3, 0) >= 0: print('CANARY-GETFD')
