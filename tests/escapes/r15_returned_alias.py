# kind: agent
# tries: change what a method returned, and read it again: was it the host's own list?
def solution(agent, start_from=1):
    seen = agent.look()
    seen.append('FORGED')
    seen[0] = 'FORGED'
    if 'FORGED' in agent.look(): print('CANARY-ALIAS')
