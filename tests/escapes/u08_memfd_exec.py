# kind: process
# tries: a program in memory: memfd_create, then fexecve
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    fd = ctypes.CDLL(None).memfd_create(b'x', 0)
    if fd >= 0: print('CANARY-MEMFD')
