# kind: kernel
# tries: bpf
# layer: cage
def solution(agent, start_from=1):
    import ctypes, sys
    if 'x86_64' in getattr(sys.implementation, '_multiarch', ''):
        if ctypes.CDLL(None).syscall(321, 0, ctypes.create_string_buffer(128), 128) >= 0: print('CANARY-BPF')
