# kind: crash
# tries: objects of C types are used without __init__, or after it ran twice
def solution(agent, start_from=1):
    from collections import deque, Counter, OrderedDict, defaultdict
    class D(deque):
        def __init__(self): pass
    class O(OrderedDict):
        def __init__(self): pass
    class E(ExceptionGroup):
        def __init__(self, *a): pass
    class U(UnicodeDecodeError):
        def __new__(cls, *a): return super().__new__(cls)
        def __init__(self): pass
    for work in (lambda: D().append(1), lambda: repr(D()), lambda: O().popitem(), lambda: repr(O()), lambda: E('a', [ValueError()]).exceptions, lambda: str(U()), lambda: repr(U()), lambda: U().reason, lambda: U().encoding, lambda: deque.__init__(D(), [1], -1), lambda: Exception.__init__(U(), 1)):
        try:
            work()
            print('used')
        except Exception as e:
            print(type(e).__name__)
