# id: m27_sum_of_lists
# kind: mem
# tries: sum of lists copies: quadratic time and memory
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    print(len(sum([[0] * 1000] * 10**6, [])))
