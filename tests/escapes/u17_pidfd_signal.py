# id: u17_pidfd_signal
# kind: signal
# tries: pidfd_open and pidfd_send_signal: signals without kill
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    fd = os.pidfd_open(os.getppid())
    print('CANARY-PIDFD', fd)
