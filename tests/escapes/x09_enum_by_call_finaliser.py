# kind: dunder
# tries: an Enum made by a call gets a finaliser as a member
def solution(agent, start_from=1):
    from enum import Enum
    E = Enum('E', {'__del__': lambda self: print('CANARY-DEL'), 'A': 1})
    print('CANARY-DEL' if hasattr(E, '__del__') else E.A)
