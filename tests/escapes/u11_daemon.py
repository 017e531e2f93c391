# id: u11_daemon
# kind: process
# tries: the C library's daemon(): fork twice, and out of sight
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).daemon(1, 1) == 0: print('CANARY-DAEMON')
