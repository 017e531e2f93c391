# kind: mem
# tries: slice assignment doubles a list: a[0:0] = a
def solution(agent, start_from=1):
    a = [0] * 1000
    for _ in range(100):
        a[0:0] = a
