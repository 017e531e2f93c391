# id: m33_repr_shared
# kind: mem
# tries: the same by repr: shared lists are written out again each time
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    a = ['x']
    for _ in range(40):
        a = [a, a]
    print(len(repr(a)))
