# kind: kernel
# tries: the same calls under their x32 numbers, which a filter by number overlooks
# layer: cage
def solution(agent, start_from=1):
    import ctypes, sys
    if 'x86_64' in getattr(sys.implementation, '_multiarch', ''):
        if ctypes.CDLL(None).syscall(0x40000000 + 2, b'@SECRET@', 0, 0) >= 0: print('CANARY-X32')
