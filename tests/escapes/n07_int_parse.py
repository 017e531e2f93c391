# kind: cpu
# tries: int(text, 7): reading and writing numbers in a base that is no power of two is quadratic
def solution(agent, start_from=1):
    while True:
        int('6' * 4300, 7)
