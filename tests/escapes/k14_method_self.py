# id: k14_method_self
# kind: walk
# tries: a bound method of a list knows its object; a builtin function knows its module
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    print('CANARY-WALK', [].append.__self__)
