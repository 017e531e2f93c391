# id: k11_facade_members
# kind: walk
# tries: the façade's own Python attributes: members, name
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    import json
    print('CANARY-WALK', json.members, json.name)
    json.members['loads'] = print
