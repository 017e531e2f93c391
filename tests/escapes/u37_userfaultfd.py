# kind: kernel
# tries: userfaultfd
# layer: cage
def solution(agent, start_from=1):
    import ctypes, sys
    if 'x86_64' in getattr(sys.implementation, '_multiarch', ''):
        if ctypes.CDLL(None).syscall(323, 1) >= 0: print('CANARY-USERFAULT')
