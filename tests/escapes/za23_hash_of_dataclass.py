# kind: class
# tries: the hash of a dataclass, taken by its fields, calls the plan or tells an address
# a correct runtime must: hash as Python does, by numbers of its own
def solution(agent, start_from=1):
    import dataclasses
    @dataclasses.dataclass(frozen=True)
    class D:
        x: object = None
        def __getattribute__(self, name):
            if name == 'x':
                return agent
            return object.__getattribute__(self, name)
    @dataclasses.dataclass(frozen=True)
    class Loop:
        x: list = dataclasses.field(default_factory=tuple)
    class Other:
        __hash__ = D.__hash__
    class Below(D):
        __hash__ = Loop.__hash__
    loop = Loop()
    object.__setattr__(loop, 'x', loop)
    for value in (D(), Other(), Below(), loop, D(print), D((object(), object())), Loop([1])):
        try:
            if not -2**63 <= hash(value) < 2**63:
                print('CAN' + 'ARY')
        except (TypeError, AttributeError, RecursionError) as e:
            print(type(e).__name__)
    table = D.__dataclass_fields__
    table.clear()
    try:
        setattr(D, '__dataclass_fields__', {})
        print('CAN' + 'ARY written')
    except AttributeError:
        pass
    if abs(hash((object(),)) - hash((object(),))) == 48 or hash(D(object())) == id(D):
        print('CAN' + 'ARY')
