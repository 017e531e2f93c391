# kind: exc
# tries: the name of an uncaught error's class is a text of the plan's own class with hostile methods
def solution(agent, start_from=1):
    class S(str):
        def __len__(self): return 3
        def __getitem__(self, i): return 'CANARY'
        def encode(self, *a): return b'CANARY'
        def __format__(self, spec): return 'CANARY'
        def __str__(self): return 'CANARY'
    class E(Exception): pass
    E.__name__ = S('harmless')
    print(f"{type(E()).__name__!r:.3}"[:0])
    raise E('x')
