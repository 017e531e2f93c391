# kind: process
# tries: clone3, which filters that look at arguments cannot see into
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    arguments = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)
    if ctypes.CDLL(None).syscall(435, arguments, 88) >= 0: print('CANARY-CLONE3')
