# id: m18_extend_by_self
# kind: mem
# tries: list.extend with an iterator over the list itself never ends, and runs in C
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    a = [1]
    a.extend(map(abs, a))
