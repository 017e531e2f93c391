# kind: dunder
# tries: MappingProxyType hands its mapping to an operator of the plan's own
def solution(agent, start_from=1):
    from types import MappingProxyType
    class Grab:
        def __ror__(self, o): return o
        def __eq__(self, o): return o
    class A: pass
    m = MappingProxyType({'a': 1})
    inside = m | Grab()
    try:
        inside['b'] = 2
        print(m)
    except Exception as e:
        print(type(e).__name__)
    table = A.__dict__
    print('CANARY-MARK' if '__plan_class__' in (table | {}) else 'hidden')
    try:
        proxy = object.__getattribute__(A, '__dict__')
        (proxy == Grab())['__del__'] = print
        print('CANARY-WRITE' if hasattr(A, '__del__') else '')
    except Exception as e:
        print(type(e).__name__)
