# kind: dunder
# tries: classes over collections.abc register types, so that the runtime takes any value for a mapping
# a correct runtime must: refuse to register beside the plan's own classes
def solution(agent, start_from=1):
    import collections.abc as c
    from abc import ABC, abstractmethod
    from collections import UserDict, UserList
    from contextlib import AbstractContextManager
    import typing
    class M(c.Mapping):
        pass
    class S(c.Sized, ABC):
        pass
    class D(UserDict):
        pass
    class W(AbstractContextManager):
        pass
    class P(typing.Protocol):
        pass
    class Q(M, P):
        pass
    for kind in (M, S, D, W, Q, UserDict, UserList):
        for name in ('register', '_abc_impl', '_dump_registry', '_abc_registry_clear', '__instancecheck__', '__subclasscheck__'):
            try:
                got = getattr(kind, name)(int)
                print('CAN' + 'ARY', kind, name, got)
            except (AttributeError, TypeError):
                pass
    if isinstance(1, c.Mapping) or isinstance(1, c.Sized) or issubclass(int, AbstractContextManager):
        print('CAN' + 'ARY a number is a mapping')
