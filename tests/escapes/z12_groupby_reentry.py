# kind: crash
# tries: a key's comparison calls the same groupby again
def solution(agent, start_from=1):
    import itertools
    class K:
        def __init__(self, n): self.n = n
        def __eq__(self, o):
            try:
                next(g)
            except StopIteration:
                pass
            return False
        def __hash__(self): return 1
    g = itertools.groupby([1] * 200, key=lambda x: K(x))
    for i in range(50):
        try:
            k, group = next(g)
            next(group)
        except (StopIteration, TypeError) as e:
            print(repr(e))
            break
