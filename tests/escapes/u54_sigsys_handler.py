# kind: signal
# tries: a handler for SIGSYS: does a forbidden call kill, or only signal
# layer: cage
def solution(agent, start_from=1):
    if start_from <= 1:
        import ctypes, signal
        signal.signal(signal.SIGSYS, lambda *a: print('CANARY-KERNEL'))
        signal.pthread_sigmask if False else None
        ctypes.CDLL(None).syscall(57)
        print('CANARY-KERNEL')
        assert True

