# kind: swallow
# tries: an assertion fails in a hook that C code calls and forgets
def solution(agent, start_from=1):
    class A:
        def __getattr__(self, name): assert False, name
        def __length_hint__(self): assert False
        def __iter__(self): return iter([1])
        def __eq__(self, o): assert False
        def __hash__(self): return 1
    for work in (lambda: hasattr(A(), 'x'), lambda: list(A()), lambda: A() in [A()], lambda: getattr(A(), 'y', 0)):
        try:
            work()
        except Exception:
            print('CANARY-CAUGHT')
    agent.goto('CANARY')
