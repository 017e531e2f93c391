# kind: crash
# tries: a chain of a hundred thousand objects is compared, printed and freed
def solution(agent, start_from=1):
    class N:
        def __init__(self, n): self.n = n
        def __repr__(self): return repr(self.n)
        def __eq__(self, o): return self.n == o.n
        def __bool__(self): return bool(self.n)
        def __hash__(self): return hash((self.n,)) if False else 1
    a = b = None
    for _ in range(100000):
        a, b = N(a), N(b)
    for work in (lambda: a == b, lambda: repr(a), lambda: bool(a), lambda: f'{a}'):
        try:
            print(len(str(work())))
        except ValueError as e:
            print(e)
    del a
