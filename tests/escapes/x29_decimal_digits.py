# kind: mem
# tries: a number of a few characters with a billion digits
def solution(agent, start_from=1):
    from decimal import Decimal
    print(len(f"{Decimal('1e999999999'):f}"))
