# kind: mem
# tries: take memory from the kernel itself, page after page, and touch it
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    taken = 0
    while taken < 2 << 30:
        block = libc.malloc(ctypes.c_size_t(1 << 24))
        if not block: return
        ctypes.memset(block, 1, 1 << 24)
        taken += 1 << 24
    print('CANARY-MEMORY')
