# kind: kernel
# tries: io_uring: system calls without system calls
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(200)) >= 0: print('CANARY-URING')
