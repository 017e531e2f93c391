# kind: process
# tries: fork, and go on in the child
# layer: cage
def solution(agent, start_from=1):
    import os
    if os.fork() == 0:
        open('@MARKER@', 'w')
        while True: pass
    print('CANARY-FORK')
