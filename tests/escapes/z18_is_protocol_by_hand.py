# kind: class
# tries: a class says that it is a protocol, and Python's bases ask it
def solution(agent, start_from=1):
    from typing import Protocol, runtime_checkable
    from collections.abc import Sized, Container, Iterable
    class Q(Sized, Protocol):
        _is_protocol = True
        _is_runtime_protocol = True
        def __getitem__(self, k): return 1
        def __iter__(self): return iter(())
        def __len__(self): return 0
    class R(Iterable, Protocol):
        _is_runtime_protocol = True
    Q._is_protocol = 5
    R._is_protocol = True
    R.__name__ = 'Protocol'
    Sequence = Sized
    Mapping = Iterable
    for x in ({}, [], 'a', 5, (), agent, print, Q):
        for kind in (Mapping, Sequence, Q, R):
            try:
                print(isinstance(x, kind))
            except Exception as e:
                print(repr(e))
    from collections import ChainMap, Counter
    print(dict(ChainMap({}, {'a': 1})), Counter('aab'))
