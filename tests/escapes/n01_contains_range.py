# kind: cpu
# tries: `1.5 in range(10**12)` compares every number, in C, without a turn
def solution(agent, start_from=1):
    print(1.5 in range(10**12))
