# id: r22_ask_small_flood
# kind: ask
# tries: many questions just under the cap
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    for i in range(200):
        ask(str(i) + 'x' * 19000)
