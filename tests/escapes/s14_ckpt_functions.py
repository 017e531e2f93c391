# kind: ckpt
# tries: functions, generators, façades, the agent, bound methods and exceptions as variables
def solution(agent, start_from=1):
    import json, re
    f = lambda: agent
    g = (x for x in [1])
    j, a, m, p = json, agent, agent.goto, re.compile('x')
    mine = [json.loads, {'k': ask}, ValueError(agent)]
    assert False, 'Error in [Step 1]: stop'
