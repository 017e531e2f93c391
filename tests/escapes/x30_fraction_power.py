# kind: cpu
# tries: powers of fractions, and fractions of texts with huge exponents
def solution(agent, start_from=1):
    from fractions import Fraction
    for make in (lambda: Fraction("1e999999999"), lambda: Fraction(3, 2) ** 10**9, lambda: Fraction(2) ** -10**9):
        print(make() == 1)
