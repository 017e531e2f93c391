# id: u35_io_uring
# kind: kernel
# tries: io_uring: system calls without system calls
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(200)) >= 0: print('CANARY-URING')
