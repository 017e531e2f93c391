# id: u37_userfaultfd
# kind: kernel
# tries: userfaultfd
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes, sys
    if 'x86_64' in getattr(sys.implementation, '_multiarch', ''):
        if ctypes.CDLL(None).syscall(323, 1) >= 0: print('CANARY-USERFAULT')
