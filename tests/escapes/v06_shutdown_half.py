# id: v06_shutdown_half
# kind: fd
# tries: shut one half of the job's socket and wait
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).shutdown(3, 1) == 0: print('CANARY-SHUTDOWN')
    while True: pass
