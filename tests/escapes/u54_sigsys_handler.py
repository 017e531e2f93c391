# id: u54_sigsys_handler
# kind: signal
# tries: a handler for SIGSYS: does a forbidden call kill, or only signal
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    if start_from <= 1:
        import ctypes, signal
        signal.signal(signal.SIGSYS, lambda *a: print('CANARY-KERNEL'))
        signal.pthread_sigmask if False else None
        ctypes.CDLL(None).syscall(57)
        print('CANARY-KERNEL')
        assert True

