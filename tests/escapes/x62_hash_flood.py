# kind: cpu
# tries: numbers and dates of one hash as keys
def solution(agent, start_from=1):
    from fractions import Fraction
    from decimal import Decimal
    m = 2**61 - 1
    d = {}
    for i in range(10**5):
        d[i * m] = 1
        d[Fraction(i * m + 1)] = 1
