# id: o04_deep_isinstance
# kind: crash
# tries: isinstance takes nested tuples of classes, and recurses into them
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    t = (int,)
    for _ in range(10**6):
        t = (t,)
    print(isinstance('x', t))
