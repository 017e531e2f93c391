# id: u31_setns
# kind: kernel
# tries: enter a namespace by a pidfd or a descriptor
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).setns(3, 0) == 0: print('CANARY-SETNS')
