# kind: dunder
# tries: SimpleNamespace takes names of Python for its objects' attributes
def solution(agent, start_from=1):
    from types import SimpleNamespace
    n = SimpleNamespace(**{'__class__': int, '__del__': print, '__plan_class__': 1, '_secret': 2})
    for name in ('__class__', '__del__', '__reduce__', '__init__', '__getattribute__'):
        try:
            v = getattr(n, name)
            print('CANARY-WALK' if getattr(v, '__globals__', 0) else type(n).__name__)
        except Exception as e:
            print(type(e).__name__)
    n.__dict__['__class__'] = print
    print(n)
