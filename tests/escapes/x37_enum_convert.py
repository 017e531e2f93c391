# kind: walk
# tries: Enum's _convert_ takes the constants of any module
def solution(agent, start_from=1):
    from enum import Enum, IntEnum
    E = getattr(IntEnum, '_conv' + 'ert_')('X', 'os', lambda name: name.isupper())
    print('CANARY-WALK', list(E))
