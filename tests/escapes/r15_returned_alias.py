# id: r15_returned_alias
# kind: agent
# tries: change what a method returned, and read it again: was it the host's own list?
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    seen = agent.look()
    seen.append('FORGED')
    seen[0] = 'FORGED'
    if 'FORGED' in agent.look(): print('CANARY-ALIAS')
