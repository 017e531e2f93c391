# kind: exc
# tries: an assertion's message is a text of the plan's own class with hostile methods
def solution(agent, start_from=1):
    class S(str):
        def __len__(self): return 10
        def __getitem__(self, i): return 'CANARY' * 10
        def __add__(self, o): return self
        def __str__(self): return self
        def encode(self, *a): raise ValueError('CANARY')
    class M:
        def __str__(self): return S('m' * 10 ** 7)
    assert False, M()
