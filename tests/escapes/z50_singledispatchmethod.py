# kind: class
# tries: singledispatchmethod over what has a __get__ of its own
def solution(agent, start_from=1):
    import functools
    class G:
        def __get__(self, o, c): return print
        def __call__(self, *a): return a
    class C:
        f = functools.singledispatchmethod(G())
        g = functools.singledispatchmethod(classmethod(lambda cls, x: (cls, x)))
        h = functools.singledispatchmethod(property(lambda s: 5))
        @functools.singledispatchmethod
        def k(self, x: int): return 'd'
        @k.register
        def _k(self, x: str): return 's'
    for n in 'fghk':
        for a in (1, 'a', C, agent, print, None):
            try:
                print(n, getattr(C(), n)(a))
            except Exception as e:
                print(n, repr(e)[:80])
    print([getattr(C.__dict__['k'], n, None) for n in ('_dispatch', 'dispatcher', 'func', '__wrapped__', 'register')])
