# id: o16_deep_slice
# kind: crash
# tries: slices of slices: comparing and printing them recurses
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    s = slice(0)
    for _ in range(10**6):
        s = slice(s)
    print(s == slice(s))
