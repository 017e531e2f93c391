# kind: class
# tries: a field that poses by equality, whose name is written differently each time
def solution(agent, start_from=1):
    from dataclasses import dataclass, field
    @dataclass
    class D:
        x: int = 1
    class Eq:
        def __eq__(self, o): return True
        def __hash__(self): return 1
    class N(str):
        n = 0
        def __format__(self, spec):
            N.n += 1
            return "q" if N.n != 4 else "q=print('CAN' + 'ARY', __builtins__['__import__']('sys').modules) if 0 else self.x;self.z"
    class F:
        name = N('q')
        init = False
        repr = False
        compare = False
        hash = None
        kw_only = False
        type = int
        default_factory = list
        default = D.__dataclass_fields__['x'].default_factory
        _field_type = Eq()
    D.__dataclass_fields__['q'] = F()
    for k in range(1, 9):
        N.n = 4 - k
        try:
            @dataclass
            class E(D):
                y: int = 2
            print(k, N.n, vars(E()))
        except Exception as e:
            print(k, N.n, repr(e)[:200])
