# id: k16_getattr_as_value
# kind: getattr
# tries: getattr passed to map, so that no call of it stands in the source
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    names = ['_sec' + 'ret', '__cl' + 'ass__']
    print('CANARY-WALK', list(map(getattr, [agent, agent], names)))
