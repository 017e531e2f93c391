# kind: names
# tries: import … as binds a façade to a guard's name
def solution(agent, start_from=1):
    import math as _getattr_
    from math import floor as _apply_
    from json import loads as __builtins__
    print('CANARY-BIND')
