# kind: walk
# tries: write into a façade, so that the next user of `math` gets ours
def solution(agent, start_from=1):
    import math
    math.floor = lambda x: 99
    if math.floor(1.5) == 99: print('CANARY-PATCH')
