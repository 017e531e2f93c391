# kind: fd
# tries: dup of the job's socket, to hold it beyond the end
# layer: cage
def solution(agent, start_from=1):
    import os
    print('CANARY-DUP', os.dup(3))
