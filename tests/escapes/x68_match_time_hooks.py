# kind: cpu
# tries: matching calls hooks of the subject that never end
def solution(agent, start_from=1):
    class S(list):
        def __len__(self): return 10 ** 9
        def __getitem__(self, i): return 1
    class M(dict):
        def __len__(self): return 5
        def get(self, k, d=None): return 1
        def __iter__(self):
            while True: yield 1
        def keys(self): return self
    class P:
        a = 1
    for value in (S(), M()):
        match value:
            case P(a=1): print('no')
            case [1, *rest]: print('CANARY-SIZE', len(rest))
            case {'x': 1, **rest}: print('CANARY-SIZE', len(rest))
