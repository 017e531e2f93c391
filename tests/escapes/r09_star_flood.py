# id: r09_star_flood
# kind: agent
# tries: star arguments by the million
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    agent.goto(*range(5 * 10**6))
