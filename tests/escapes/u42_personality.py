# id: u42_personality
# kind: kernel
# tries: personality, modify_ldt and arch_prctl: how the kernel reads this process
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).personality(0x0040000) >= 0: print('CANARY-PERSONALITY')
