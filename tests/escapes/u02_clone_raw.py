# kind: process
# tries: clone by its number, sharing memory
# layer: cage
def solution(agent, start_from=1):
    import ctypes, sys
    if 'x86_64' in getattr(sys.implementation, '_multiarch', ''):
        if ctypes.CDLL(None).syscall(56, 17, 0, 0, 0, 0) >= 0: print('CANARY-CLONE')
