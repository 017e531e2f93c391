# id: k42_alias_called
# kind: walk
# tries: a generic alias is called and passes attributes through to its origin: list[int].append, dict[int, int].fromkeys
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    made = dict[str, int].fromkeys
    print('CANARY-WALK', made.__self__, list[int]().append.__self__)
