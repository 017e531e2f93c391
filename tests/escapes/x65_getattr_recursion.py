# kind: crash
# tries: __getattr__, __get__, __bool__ and __call__ call themselves through Python's own C code
def solution(agent, start_from=1):
    class R:
        def __getattr__(self, name): return getattr(self, name + 'x')
    class D:
        def __get__(self, o, k): return o.d
    class H: d = D()
    class C: pass
    C.__call__ = C()
    for work in (lambda: R().a, lambda: H().d, lambda: C()()):
        try:
            work()
            print('CANARY-DEEP')
        except ValueError:
            pass
