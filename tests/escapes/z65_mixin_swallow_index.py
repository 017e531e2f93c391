# kind: swallow
# tries: a sequence's mixins swallow IndexError behind which a limit stands
def solution(agent, start_from=1):
    from collections.abc import Sequence
    class S(Sequence):
        def __len__(self): return 3
        def __getitem__(self, i):
            try:
                x = 'a' * 10 ** 10
            finally:
                raise IndexError(i)
    print(list(S()), 5 in S())
    print('CAN' + 'ARY went on')
