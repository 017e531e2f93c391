# kind: dunder
# tries: object.__setattr__ and __delattr__ write to what is not the plan's, or under names that are not texts
# a correct runtime must: write plain names of the plan's own objects alone
def solution(agent, start_from=1):
    import json, decimal, csv, types, collections
    class Name(str):
        def __eq__(self, other):
            return True
        def __hash__(self):
            return hash('x')
        def __str__(self):
            return 'x'
    class A:
        __slots__ = ('x',)
    class B:
        pass
    def f():
        pass
    owners = [agent, json, print, len, f, A, B, int, str, type, object, A(), B(), super(B, B()), decimal.getcontext(), csv.excel, types.SimpleNamespace(), collections.namedtuple('N', 'a')(1), Exception('a'), 5, 'a', [], {}, None, (i for i in [1]), B.__dict__]
    names = ['__class__', '__dict__', '__reduce__', '__del__', '__code__', '_print_', '__plan_class__', '_function', 'gi_frame', Name('__class__'), Name('x'), b'x', 5, None, ('x',), agent]
    for owner in owners:
        for name in names:
            for write in (lambda: object.__setattr__(owner, name, B), lambda: object.__delattr__(owner, name), lambda: super(B, B()).__setattr__(name, 1)):
                if name == '_function':
                    continue
                try:
                    write()
                    print('CAN' + 'ARY', owner, name)
                except (AttributeError, TypeError):
                    pass
