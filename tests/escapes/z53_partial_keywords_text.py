# kind: class
# tries: keywords of a partial are no texts, or are changed while it runs
def solution(agent, start_from=1):
    import functools
    class S(str):
        def __eq__(self, o):
            p.keywords.clear()
            return True
        def __hash__(self): return 1
    def f(*a, **k): return a, k
    p = functools.partial(f, **{S('a'): 1, 'b': 2})
    for act in (lambda: p(**{S('a'): 5, S('c'): 6}), lambda: p.keywords.update({5: 6}) or p(), lambda: repr(p), lambda: functools.partial(p, **{S('z'): 1})()):
        try:
            print(act())
        except Exception as e:
            print(repr(e)[:80])
    class R:
        def __repr__(self):
            p.keywords.clear()
            return 'r'
    p = functools.partial(f, *[R()] * 5, **{str(i): R() for i in range(100)})
    print(repr(p)[:50])
