# id: n06_pow_mod
# kind: cpu
# tries: pow with three numbers of a hundred thousand bits
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    n = (1 << 99999) - 1
    print(pow(3, n, n - 2) & 1)
