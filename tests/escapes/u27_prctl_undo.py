# kind: kernel
# tries: take the locks off again: dumpable, death signal, no_new_privs
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    prctl = ctypes.CDLL(None).prctl
    if prctl(1, 0, 0, 0, 0) == 0 or prctl(4, 1, 0, 0, 0) == 0 or prctl(38, 0, 0, 0, 0) == 0: print('CANARY-PRCTL')
