# id: l14_for_target_attribute
# kind: names
# tries: the target of a for loop is an attribute of the agent
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    for agent.location in ['FORGED']:
        pass
    [0 for agent.holding in ['FORGED']]
