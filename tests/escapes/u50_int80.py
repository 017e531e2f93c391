# kind: kernel
# tries: 32-bit system calls by int 0x80, found as bytes in the C library
# layer: cage
def solution(agent, start_from=1):
    if start_from <= 1:
        import ctypes
        libc = ctypes.CDLL(None)
        base = ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~0xfff
        text = ctypes.string_at(base - (64 << 10), 512 << 10)
        at = text.find(b'\xcd\x80')
        print(at)
        if at >= 0:
            f = ctypes.CFUNCTYPE(ctypes.c_long)(base - (64 << 10) + at)
            f(); print('CANARY-KERNEL')
        else:
            at = text.find(b'\x0f\x34')
            if at >= 0: ctypes.CFUNCTYPE(ctypes.c_long)(base - (64 << 10) + at)(); print('CANARY-KERNEL')
        assert True

