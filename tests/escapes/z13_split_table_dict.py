# kind: crash
# tries: the dict of an object gets a key that is no exact text
def solution(agent, start_from=1):
    class C:
        def __init__(self): self.a = 1
        def other(self): self.b = 2
    class S(str):
        def __hash__(self): return hash(str(self))
        def __eq__(self, o): return str(self) == o
    objs = [C() for i in range(5)]
    objs[0].b = 2
    for o in objs[1:]:
        d = o.__dict__
        d[S('b')] = 5
        print(len(d), o.b, list(d))
        del d['b']
        d[S('a')] = 3
        print(o.a, d)
