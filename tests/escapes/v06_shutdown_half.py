# kind: fd
# tries: shut one half of the job's socket and wait
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).shutdown(3, 1) == 0: print('CANARY-SHUTDOWN')
    while True: pass
