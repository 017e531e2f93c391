# kind: cpu
# tries: int of texts in bases that are powers of two has no limit of digits; then squares
def solution(agent, start_from=1):
    if start_from <= 1:
        x = int('f' * 4000000, 16)
        while True: x = x * x
        assert True

