# id: u53_membarrier_storm
# kind: kernel
# tries: membarrier: interrupts for all processors, for ever
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    if start_from <= 1:
        import ctypes, signal
        for s in (signal.SIGALRM, signal.SIGPROF): signal.signal(s, signal.SIG_IGN)
        libc = ctypes.CDLL(None)
        while True:
            for c in (1, 2, 4, 8, 16, 128, 256): libc.syscall(324, c, 0, 0)
        assert True

