# id: v07_sockopt
# kind: fd
# tries: socket options: credentials, buffer sizes, the peer's pid
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    buffer, length = ctypes.create_string_buffer(12), ctypes.c_uint32(12)
    if ctypes.CDLL(None).getsockopt(3, 1, 17, buffer, ctypes.byref(length)) == 0: print('CANARY-PEER', buffer.raw)
