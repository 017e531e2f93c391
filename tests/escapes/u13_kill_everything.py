# kind: signal
# tries: may it signal all processes? (signal 0 asks, and harms nobody)
# layer: cage
def solution(agent, start_from=1):
    import os
    os.kill(-1, 0)
    print('CANARY-KILL')
