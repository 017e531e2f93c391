# kind: walk
# tries: __subclasses__ leads from a class of the plan to one of Python's
# a correct runtime must: give classes of the plan alone
def solution(agent, start_from=1):
    import collections.abc as c, typing, enum, abc
    from collections import UserDict
    class A(abc.ABC): pass
    class B(A): pass
    class E(Exception): pass
    class F(enum.Enum): pass
    name = '__subclasses__'
    for owner in (object, type, dict, Exception, BaseException, int, A.__base__, A.__mro__[-1], E.__mro__[1], F.__mro__[-2], UserDict, c.Mapping, abc.ABC, typing.Generic, typing.Protocol, enum.Enum, super(B, B), super(A, A), type(A), A.__class__, agent, json, print):
        try:
            got = getattr(owner, name)()
            print('CAN' + 'ARY', owner, got)
        except (AttributeError, TypeError):
            pass
    for owner in (A, B, E, F):
        for kind in owner.__subclasses__() + owner.mro():
            if kind.__name__ not in ('A', 'B', 'E', 'F', 'ABC', 'object', 'Exception', 'BaseException', 'Enum'):
                print('CAN' + 'ARY', kind)
    class Fake:
        @classmethod
        def mro(cls): return [1]
        register = 3
    print(Fake.mro(), Fake.register)
