# id: o03_deep_repr
# kind: crash
# tries: repr of a deep mixture of lists, dicts and tuples, in the message of an assertion
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    a = []
    for _ in range(10**5):
        a = ({'k': [a]},)
    assert False, a
