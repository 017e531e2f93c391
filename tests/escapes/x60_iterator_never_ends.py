# kind: cpu
# tries: __next__, __getitem__, __contains__ and __iter__ never end in builtins written in C
def solution(agent, start_from=1):
    class N:
        def __iter__(self): return self
        def __next__(self): return 1
        def __getitem__(self, i): return i
    for work in (lambda: sum(N()), lambda: 2 in N(), lambda: max(N()), lambda: all(N()), lambda: dict(zip(N(), N())), lambda: [*N()], lambda: sorted(N())):
        try:
            work()
        except Exception as e:
            print('CANARY-CAUGHT', type(e).__name__)
