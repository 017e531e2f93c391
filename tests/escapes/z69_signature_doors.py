# kind: walk
# tries: signatures and their parameters lead to Python's classes
def solution(agent, start_from=1):
    import inspect

    def f(a, *b, c: int=5, **d) -> str:
        return a
    s = inspect.signature(f)
    p = s.parameters['c']
    for o in (s, p, p.kind, s.bind(1, c=2), s.parameters, inspect.Parameter):
        for name in ('_parameters', '_annotation', '__class__', 'replace', 'from_callable', '__reduce__', '_kind', '__slots__', '__mro__', '__init__', '__new__', '_signature', 'signature', '__setstate__', '_bind', 'empty', '__dict__', '__wrapped__'):
            try:
                print(name, repr(getattr(o, name))[:70])
            except Exception as e:
                pass

    class P(inspect.Parameter):
        pass
