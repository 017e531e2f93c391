# id: v16_sysv_message
# kind: ipc
# tries: System V message queues
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).msgget(0x636f64, 0o1666) >= 0: print('CANARY-MSGGET')
