# id: v15_sysv_shm
# kind: ipc
# tries: System V shared memory
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).shmget(0x636f64, 4096, 0o1666) >= 0: print('CANARY-SHMGET')
