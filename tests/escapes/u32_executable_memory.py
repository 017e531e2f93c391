# kind: kernel
# tries: mmap of memory that can be executed
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_ssize_t
    if libc.mmap(None, 4096, 7, 0x22, -1, 0) != -1: print('CANARY-EXEC-MEMORY')
