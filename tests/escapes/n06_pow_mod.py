# kind: cpu
# tries: pow with three numbers of a hundred thousand bits
def solution(agent, start_from=1):
    n = (1 << 99999) - 1
    print(pow(3, n, n - 2) & 1)
