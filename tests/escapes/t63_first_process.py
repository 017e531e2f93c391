# kind: process
# tries: the first process of its pid namespace can be found and sent a signal
# a correct runtime must: refuse the call or end the worker; no process of the host is found
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    for call in ((62, 1, 0), (200, 1, 0), (234, 1, 1, 0), (129, 1, 0, None), (424, 1, 0, None, 0)):
        if libc.syscall(*call) == 0: print('CANARY-INIT', call)
