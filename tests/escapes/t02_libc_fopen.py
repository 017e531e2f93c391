# kind: fs
# tries: the C library's fopen, by ctypes
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    f = libc.fopen(b'@SECRET@', b'r')
    buffer = ctypes.create_string_buffer(100)
    if f: libc.fgets(buffer, 100, ctypes.c_void_p(f))
    print(buffer.value)
