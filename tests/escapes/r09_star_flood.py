# kind: agent
# tries: star arguments by the million
def solution(agent, start_from=1):
    agent.goto(*range(5 * 10**6))
