# kind: signal
# tries: kill the process that forked it
# layer: cage
def solution(agent, start_from=1):
    import os, signal
    os.kill(os.getppid(), signal.SIGKILL)
    print('CANARY-KILL')
