# id: m17_range_to_list
# kind: mem
# tries: a range turned into everything: list, set, tuple, dict, star-expression
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    print(len([*range(10**10)]), len(dict.fromkeys(range(10**10))))
