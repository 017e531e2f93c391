# id: u12_kill_parent
# kind: signal
# tries: kill the process that forked it
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os, signal
    os.kill(os.getppid(), signal.SIGKILL)
    print('CANARY-KILL')
