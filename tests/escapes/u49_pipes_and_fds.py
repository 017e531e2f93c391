# kind: fd
# tries: make descriptors and fill pipes
# layer: cage
def solution(agent, start_from=1):
    import os
    ends = os.pipe()
    print('CANARY-PIPE', ends)
