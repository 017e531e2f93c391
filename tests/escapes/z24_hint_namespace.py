# kind: names
# tries: the namespaces that get_type_hints is given are dicts of the runtime or poses
def solution(agent, start_from=1):
    import typing
    def f(a: 'x'): return a
    class D(dict):
        def __missing__(self, k): return k
        def __contains__(self, k): return True
        def keys(self): return ['x']
    for g in (D(), D(x=5), globals(), vars(), {'x': agent}, {1: 2}, f.__annotations__):
        try:
            print(typing.get_type_hints(f, g, g))
        except Exception as e:
            print(repr(e)[:80])
