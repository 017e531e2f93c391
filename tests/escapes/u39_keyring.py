# kind: kernel
# tries: the kernel's keyrings, which outlive a process
# layer: cage
def solution(agent, start_from=1):
    import ctypes, sys
    if 'x86_64' in getattr(sys.implementation, '_multiarch', ''):
        if ctypes.CDLL(None).syscall(250, 0, -4, 1) >= 0: print('CANARY-KEYRING')
