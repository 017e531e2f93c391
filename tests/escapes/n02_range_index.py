# id: n02_range_index
# kind: cpu
# tries: range.index and range.count of a value that is no int
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    print(range(10**12).count(1.5))
