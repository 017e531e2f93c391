# kind: crash
# tries: a million nested values are freed at once when the plan ends in an error
def solution(agent, start_from=1):
    a = None
    for _ in range(10**6):
        a = [a, (a,), {'a': a}]
    raise ValueError('free it')
