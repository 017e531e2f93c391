# kind: signal
# tries: stop itself: a stopped process neither answers nor runs out of processor time
# layer: cage
def solution(agent, start_from=1):
    import os, signal
    os.kill(os.getpid(), signal.SIGSTOP)
    print('CANARY-STOP')
