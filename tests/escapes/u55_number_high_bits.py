# kind: kernel
# tries: a number whose upper half is set
# layer: cage
def solution(agent, start_from=1):
    if start_from <= 1:
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        buf = ctypes.create_string_buffer(4096)
        got = [libc.syscall(n, *a) for n, *a in [(4294967353, 0)]]
        if any(g >= 0 for g in got): print('CANARY-KERNEL', got)
        assert True

