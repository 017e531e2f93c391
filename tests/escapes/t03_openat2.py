# kind: fs
# tries: openat2, the newer call that older filters forget
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    how = (ctypes.c_uint64 * 3)(0, 0, 0)
    fd = libc.syscall(437, -100, b'@SECRET@', how, 24)
    if fd >= 0: print('CANARY-OPENAT2', fd)
