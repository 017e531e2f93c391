# id: l33_object_getattribute
# kind: builtins
# tries: object.__getattribute__, super() and type.__call__ as values
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    print('CANARY-WALK', object.__getattribute__(agent, '_secret'))
    print(super().__getattribute__('goto'))
