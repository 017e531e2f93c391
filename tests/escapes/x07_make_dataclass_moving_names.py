# kind: dunder
# tries: make_dataclass reads its fields twice, and the second time they have other names
def solution(agent, start_from=1):
    from dataclasses import make_dataclass
    class Turning:
        def __init__(self): self.n = 0
        def __iter__(self):
            self.n += 1
            return iter(('a', int, 1) if self.n < 2 else ('__del__', object, lambda self: print('CANARY-DEL')))
        def __getitem__(self, i): return [*self][i]
        def __len__(self): return 3
    K = make_dataclass('K', [Turning()])
    K()
    print('done')
