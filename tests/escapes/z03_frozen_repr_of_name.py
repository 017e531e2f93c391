# kind: class
# tries: a frozen dataclass writes the repr of names into code, and a name is a text of the plan
def solution(agent, start_from=1):
    from dataclasses import dataclass
    class S(str):
        def __repr__(self): return "'x') or print('CAN' + 'ARY', __import__('sys').modules) or ('x'"
    class K:
        __annotations__ = {S("x"): int}
        x = 1
    k = dataclass(init=False, eq=False, frozen=True)(K)()
    try:
        k.y = 2
    except Exception as e:
        print(repr(e))
