# kind: getattr
# tries: __match_args__ is computed by a descriptor that changes between reads
def solution(agent, start_from=1):
    class Turn:
        n = 0
        def __get__(self, o, k):
            Turn.n += 1
            return ('a',) if Turn.n < 2 else ('__globals__',)
    class M:
        __match_args__ = Turn()
        a = 1
    for _ in range(3):
        try:
            match M():
                case M(x) if x != 1: print('CANARY-MATCH', x)
        except Exception as e:
            print(type(e).__name__)
