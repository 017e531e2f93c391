# kind: agent
# tries: the proxy as a dict key, in a set, compared with everything, copied into a checkpoint under many names
def solution(agent, start_from=1):
    d = {agent: 1, agent.goto: 2}
    other = agent
    names = [agent, other, agent.goto, ask]
    print(agent == other, agent in names, hash, d)
