# id: r10_keyword_flood
# kind: agent
# tries: a hundred thousand keywords, and keywords that are no text
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    try:
        agent.goto(**{1: 2})
    except TypeError:
        pass
    agent.goto(**{'k' + str(i): i for i in range(10**5)})
