# kind: ckpt
# tries: an Enum's members and its lookup by value lie when they are saved and restored
def solution(agent, start_from=1):
    from enum import Enum
    class E(Enum):
        A = 1
        @classmethod
        def _missing_(cls, value):
            print('CANARY-RESTORED')
            agent.goto('CANARY')
        @property
        def name(self): return 'CANARY'
        def __reduce_ex__x(self, p): return print, ('CANARY',)
    e = E.A
    f = {E.A: [E.A]}
    assert False, 'stop'
