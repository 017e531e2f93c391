# kind: dunder
# tries: __class_getitem__ of the plan's class gives a type to a builtin that expects one
def solution(agent, start_from=1):
    class A:
        def __class_getitem__(cls, item): return item
        def __getattr__(self, n): return type
    try:
        isinstance(1, A[agent])
    except Exception as e:
        print(type(e).__name__)
    try:
        class B(A[print]): pass
        print('CANARY-BASE')
    except Exception as e:
        print(type(e).__name__)
