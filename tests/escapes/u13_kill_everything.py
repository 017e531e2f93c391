# id: u13_kill_everything
# kind: signal
# tries: may it signal all processes? (signal 0 asks, and harms nobody)
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    os.kill(-1, 0)
    print('CANARY-KILL')
