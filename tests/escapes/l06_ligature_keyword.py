# id: l06_ligature_keyword
# kind: names
# tries: ligatures in attributes: agent._ﬁle, and in a keyword of a call
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    print('CANARY-WALK', agent._ſecret)
    print(ﬁle=agent)
