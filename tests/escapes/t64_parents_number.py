# id: t64_parents_number
# kind: process
# tries: getppid names the zygote
# a correct runtime must: refuse the call or end the worker; no process of the host is found
# layer: cage
def solution(agent, start_from=1):
    import ctypes, os
    if ctypes.CDLL(None).syscall(110) > 0 or os.getppid() > 0: print('CANARY-PARENT', os.getppid())
