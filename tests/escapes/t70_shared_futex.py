# kind: kernel
# tries: futex operations that the kernel's history knows from its bugs
# a correct runtime must: refuse the operation or end the worker
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    word = ctypes.c_uint32(0)
    for operation in (3, 4, 5, 6, 7, 8, 11, 12, 13, 131, 133, 134, 139, 141):
        if libc.syscall(202, ctypes.byref(word), operation, 0, None, ctypes.byref(word), 0) == 0: print('CANARY-FUTEX', operation)
