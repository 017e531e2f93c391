# kind: fd
# tries: socket options: credentials, buffer sizes, the peer's pid
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    buffer, length = ctypes.create_string_buffer(12), ctypes.c_uint32(12)
    if ctypes.CDLL(None).getsockopt(3, 1, 17, buffer, ctypes.byref(length)) == 0: print('CANARY-PEER', buffer.raw)
