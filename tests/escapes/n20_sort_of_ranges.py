# id: n20_sort_of_ranges
# kind: cpu
# tries: comparing two long equal lists, tuple by tuple, in every comparison of a sort
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    a = [(0,) * 10**5] * 100000
    rows = [list(a) for _ in range(100)]
    rows.sort()
