# kind: kernel
# tries: write first, and make it executable afterwards
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_ssize_t
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_ssize_t]
    page = libc.mmap(None, 4096, 3, 0x22, -1, 0)
    if page == -1: return
    if libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(4096), 5) == 0: print('CANARY-EXEC-MEMORY')
