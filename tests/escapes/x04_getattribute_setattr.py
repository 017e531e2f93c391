# id: x04_getattribute_setattr
# kind: dunder
# tries: object.__getattribute__ gives an unguarded __setattr__, which changes an object's class
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
def solution(agent, start_from=1):
    class A: pass
    class B: pass
    a = A()
    object.__getattribute__(a, '__setattr__')('__class__', B)
    print('CANARY-WALK' if type(a) is B else '')
