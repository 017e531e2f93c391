# kind: forge
# tries: the assertion's message is no text: the agent, a function, a dict, a huge list of lists
def solution(agent, start_from=1):
    if start_from <= 1:
        assert False, {'step': 99, 'agent': agent, 'ask': ask, 'all': [[0] * 1000] * 1000}
