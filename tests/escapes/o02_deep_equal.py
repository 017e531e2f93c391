# id: o02_deep_equal
# kind: crash
# tries: compare two lists that are a million deep
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    a, b = [], []
    for _ in range(10**6):
        a, b = [a], [b]
    print(a == b)
