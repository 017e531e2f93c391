# kind: class
# tries: a field that poses by equality writes statements into __init__
def solution(agent, start_from=1):
    from dataclasses import dataclass
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
            return "q=[__import__('sys').modules];self.z" if N.n == 4 else "q"
    class F:
        name = N('q')
        init = repr = compare = kw_only = False
        hash = None
        type = int
        default_factory = list
        default = D.__dataclass_fields__['x'].default_factory
        _field_type = Eq()
    D.__dataclass_fields__['q'] = F()
    for k in range(4):
        N.n = k
        try:
            @dataclass
            class E(D):
                y: int = 2
            q = E().q
            if q: print('CAN' + 'ARY', str(q)[:80])
        except Exception as e:
            print(repr(e)[:80])
