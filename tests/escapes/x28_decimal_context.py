# kind: mem
# tries: a context of a billion digits
def solution(agent, start_from=1):
    import decimal
    for make in (lambda: decimal.Context(prec=10**9), lambda: decimal.localcontext(prec=10**9), lambda: decimal.Context(10**17)):
        try:
            c = make()
            print(len(str(c.divide(1, 3))))
        except (ValueError, AttributeError, TypeError):
            pass
    print(int(decimal.Decimal("1e99999999")) & 1)
