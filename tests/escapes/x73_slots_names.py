# kind: names
# tries: __slots__ makes attributes with names that no plan may write
def solution(agent, start_from=1):
    for names in (('__del__',), ('__class__',), ('__plan_class__',), ('__dict__', '__weakref__'), ('gi_frame',), '__reduce__'):
        try:
            class A:
                __slots__ = names
            a = A()
            print('CANARY-SLOT' if hasattr(A, '__del__') or hasattr(A, '__reduce__') else sorted(A.__dict__)[:1])
        except Exception as e:
            print(type(e).__name__)
