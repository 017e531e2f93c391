# kind: class
# tries: a name of a field is a text of the plan that is written differently each time
def solution(agent, start_from=1):
    from dataclasses import dataclass
    class N(str):
        n = 0
        def __format__(self, spec):
            N.n += 1
            return "q=0" if N.n == k else "q"
        def isidentifier(self): return True
    for k in range(1, 12):
        N.n = 0
        try:
            K = dataclass(type('K', (), {'__annotations__': {N('q'): int}}))
            print(k, N.n, K(1))
        except Exception as e:
            print(k, N.n, repr(e)[:200])
