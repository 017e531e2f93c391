# id: l15_unpack_into_attribute
# kind: names
# tries: tuple unpacking, starred and nested, stores into attributes and items
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    (agent.location, [*agent.holding]) = 'FORGED', 'FORGED'
    agent.receptacles[0], ask.x = 1, 2
