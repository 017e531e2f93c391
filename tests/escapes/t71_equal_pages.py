# kind: memory
# tries: madvise makes the kernel merge equal pages, which tells what others hold in memory
# a correct runtime must: refuse the advice or end the worker
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    page = ctypes.create_string_buffer(8192)
    for advice in (12, 17, 18, 100, 101):
        if libc.madvise(ctypes.c_void_p((ctypes.addressof(page) + 4095) & ~4095), ctypes.c_size_t(4096), advice) == 0: print('CANARY-ADVICE', advice)
