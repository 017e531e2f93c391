# id: v18_posix_queue
# kind: ipc
# tries: POSIX message queues
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes, sys
    if 'x86_64' in getattr(sys.implementation, '_multiarch', ''):
        if ctypes.CDLL(None).syscall(240, b'codeplan-escape', 0o102, 0o666, None) >= 0: print('CANARY-MQ')
