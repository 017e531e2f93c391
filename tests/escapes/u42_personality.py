# kind: kernel
# tries: personality, modify_ldt and arch_prctl: how the kernel reads this process
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).personality(0x0040000) >= 0: print('CANARY-PERSONALITY')
