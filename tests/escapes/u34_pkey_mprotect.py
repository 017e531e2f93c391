# id: u34_pkey_mprotect
# kind: kernel
# tries: pkey_mprotect, the younger brother of mprotect
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).pkey_mprotect(0, 0, 5, -1) == 0: print('CANARY-PKEY')
