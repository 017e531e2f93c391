# kind: mem
# tries: the same by repr: shared lists are written out again each time
def solution(agent, start_from=1):
    a = ['x']
    for _ in range(40):
        a = [a, a]
    print(len(repr(a)))
