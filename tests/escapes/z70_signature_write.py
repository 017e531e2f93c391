# kind: class
# tries: parts of a signature are written and used by the runtime
def solution(agent, start_from=1):
    import inspect
    def f(a: int): return a
    s = inspect.signature(f)
    b = s.bind(1)
    b.arguments['a'] = agent
    b.arguments['zz'] = print
    for act in (lambda: b.args, lambda: b.kwargs, lambda: f(*b.args), lambda: setattr(b, 'arguments', 5), lambda: s.parameters.__setitem__('x', 1), lambda: inspect.Parameter(type('S', (str,), {'isidentifier': lambda s: True})('a b'), inspect.Parameter.KEYWORD_ONLY), lambda: str(inspect.Parameter('a', inspect.Parameter.KEYWORD_ONLY, annotation=agent, default=agent)), lambda: s == type('E', (), {'__eq__': lambda a, o: print('got', o)})()):
        try:
            print(repr(act())[:80])
        except Exception as e:
            print(repr(e)[:80])
