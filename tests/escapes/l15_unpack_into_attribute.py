# kind: names
# tries: tuple unpacking, starred and nested, stores into attributes and items
def solution(agent, start_from=1):
    (agent.location, [*agent.holding]) = 'FORGED', 'FORGED'
    agent.receptacles[0], ask.x = 1, 2
