# kind: cpu
# tries: ints that all hash alike: a set of multiples of 2**61-1 takes quadratic time
def solution(agent, start_from=1):
    n = 2**61 - 1
    print(len({i * n for i in range(200000)}))
