# id: m24_round_negative
# kind: mem
# tries: round(1, -10**10) computes 10**10**10 within C
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    print(round(1, -10**10))
