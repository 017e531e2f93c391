# kind: mem
# tries: grow by brk and mremap, which a limit on mmap alone does not see
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    libc.sbrk.restype = ctypes.c_ssize_t
    grown = 0
    while grown < 2 << 30 and libc.sbrk(ctypes.c_ssize_t(1 << 24)) != -1: grown += 1 << 24
    if grown >= 2 << 30: print('CANARY-MEMORY')
