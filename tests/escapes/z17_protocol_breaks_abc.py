# kind: class
# tries: a protocol over an abstract base makes Python's own checks raise
def solution(agent, start_from=1):
    from typing import Protocol, runtime_checkable
    from collections.abc import Sized, Iterable, Container, Collection, Hashable, Reversible, Callable, Awaitable
    @runtime_checkable
    class PP(Iterable, Protocol):
        n: int
    @runtime_checkable
    class Q(Sized, Protocol):
        n: int
    @runtime_checkable
    class R(Hashable, Protocol):
        n: int
    for kind in (Sized, Iterable, Container, Hashable):
        for x in (5, [], agent, print):
            try:
                print(isinstance(x, kind))
            except Exception as e:
                print(repr(e))
    y = [[1, {'a': 2}]]
    agent.put('mug 1', 'shelf 1')
