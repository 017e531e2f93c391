# id: u38_perf_event
# kind: kernel
# tries: perf_event_open: watch other processes
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes, sys
    if 'x86_64' in getattr(sys.implementation, '_multiarch', ''):
        if ctypes.CDLL(None).syscall(298, ctypes.create_string_buffer(128), 0, -1, -1, 0) >= 0: print('CANARY-PERF')
