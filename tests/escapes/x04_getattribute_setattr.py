# kind: dunder
# tries: object.__getattribute__ gives an unguarded __setattr__, which changes an object's class
def solution(agent, start_from=1):
    class A: pass
    class B: pass
    a = A()
    object.__getattribute__(a, '__setattr__')('__class__', B)
    print('CANARY-WALK' if type(a) is B else '')
