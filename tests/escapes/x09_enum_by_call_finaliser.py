# id: x09_enum_by_call_finaliser
# kind: dunder
# tries: an Enum made by a call gets a finaliser as a member
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
def solution(agent, start_from=1):
    from enum import Enum
    E = Enum('E', {'__del__': lambda self: print('CANARY-DEL'), 'A': 1})
    print('CANARY-DEL' if hasattr(E, '__del__') else E.A)
