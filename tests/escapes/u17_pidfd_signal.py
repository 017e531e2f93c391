# kind: signal
# tries: pidfd_open and pidfd_send_signal: signals without kill
# layer: cage
def solution(agent, start_from=1):
    import os
    fd = os.pidfd_open(os.getppid())
    print('CANARY-PIDFD', fd)
