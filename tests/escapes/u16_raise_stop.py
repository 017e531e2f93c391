# id: u16_raise_stop
# kind: signal
# tries: stop itself through the C library's raise, which uses another call
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import signal
    signal.raise_signal(signal.SIGSTOP)
    print('CANARY-STOP')
