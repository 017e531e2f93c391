# id: m28_dict_growth
# kind: mem
# tries: a dict that doubles itself by its own values
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    d = {}
    while True:
        d[len(d)] = [None] * 1000
