# kind: ipc
# tries: System V shared memory
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).shmget(0x636f64, 4096, 0o1666) >= 0: print('CANARY-SHMGET')
