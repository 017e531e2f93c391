# kind: mem
# tries: list.extend with an iterator over the list itself never ends, and runs in C
def solution(agent, start_from=1):
    a = [1]
    a.extend(map(abs, a))
