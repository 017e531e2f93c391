# id: n08_int_division
# kind: cpu
# tries: divisions and remainders of big ints made by additions
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    n = 1
    for _ in range(400000):
        n += n
    print(n % 12345678901234567890, n // 3, math.gcd(n, n + 1), math.isqrt(n))
