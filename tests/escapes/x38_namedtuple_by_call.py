# kind: exec
# tries: NamedTuple makes code of its names
def solution(agent, start_from=1):
    from typing import NamedTuple
    for names in ([('__class__', int)], [('a=print(1)', int)], [('_x', int)], [('a', int), ('a', str)], [('class', int)], [('a\n', int)]):
        try:
            N = NamedTuple('N', names)
            print('CANARY-EXEC', N._fields)
        except Exception as e:
            print(type(e).__name__)
    for name in ('N(print("CANARY-EXEC"))', 'a b', '__builtins__', 'import os'):
        try:
            print(NamedTuple(name, [('a', int)])(1).a)
        except Exception as e:
            print(type(e).__name__)
