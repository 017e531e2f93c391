# id: u21_sigio_owner
# kind: signal
# tries: fcntl F_SETOWN: let the kernel send the signal
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import fcntl, os
    fcntl.fcntl(3, 8, os.getppid())
    print('CANARY-SETOWN')
