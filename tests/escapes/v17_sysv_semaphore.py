# id: v17_sysv_semaphore
# kind: ipc
# tries: System V semaphores
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).semget(0x636f64, 1, 0o1666) >= 0: print('CANARY-SEMGET')
