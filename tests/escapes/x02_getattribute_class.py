# kind: dunder
# tries: object.__getattribute__ of a class gives the real metaclass, which makes classes without checks
def solution(agent, start_from=1):
    class A: pass
    kind = object.__getattribute__(A, '__class__')
    made = kind('X', (), {'__del__': lambda self: print('CANARY-DEL')})
    print('CANARY-WALK', made)
