# kind: builtins
# tries: object.__getattribute__, super() and type.__call__ as values
def solution(agent, start_from=1):
    print('CANARY-WALK', object.__getattribute__(agent, '_secret'))
    print(super().__getattribute__('goto'))
