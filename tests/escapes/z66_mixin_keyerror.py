# kind: swallow
# tries: a mapping's get swallows KeyError behind which a failed assertion stands
def solution(agent, start_from=1):
    from collections.abc import Mapping
    class M(Mapping):
        def __len__(self): return 3
        def __iter__(self): return iter([1])
        def __getitem__(self, i):
            try:
                assert False, 'hidden'
            finally:
                raise KeyError(i)
    print(M().get(5), 5 in M())
    print('CAN' + 'ARY went on')
