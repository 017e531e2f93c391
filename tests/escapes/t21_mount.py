# kind: fs
# tries: mount, and the newer calls that open a file system without a path
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    if libc.mount(b'proc', b'/proc', b'proc', 0, None) == 0: print('CANARY-MOUNT')
