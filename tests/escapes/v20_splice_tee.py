# kind: ipc
# tries: splice, sendfile, copy_file_range: data from descriptor to descriptor in the kernel
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).sendfile(3, 3, None, 1) >= 0: print('CANARY-SENDFILE')
