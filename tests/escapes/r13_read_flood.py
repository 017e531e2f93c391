# id: r13_read_flood
# kind: flood
# tries: reading attributes is free of actions, but not of work for the host
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    while True:
        agent.receptacles
