# id: r20_ask_map
# kind: ask
# tries: ask by map and as a sort key: a thousand questions without a loop
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    list(map(ask, ['x'] * 10000))
