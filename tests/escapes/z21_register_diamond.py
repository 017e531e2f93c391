# kind: class
# tries: a class over Mapping and another abstract class is registered by the other
def solution(agent, start_from=1):
    from abc import ABC
    from collections.abc import Mapping, Sized
    from typing import Generic, TypeVar, Protocol
    T = TypeVar('T')
    class A(ABC): pass
    A.register(int)
    class G(Generic[T]): pass
    for make in (lambda: type('X', (A, Mapping), {}), lambda: type('Y', (Mapping, A), {})):
        X = make()
        try:
            X.register(str)
            print('CAN' + 'ARY')
        except Exception as e:
            print(repr(e))
    class N(Mapping[str, int]): pass
    for K in (N,):
        try:
            K.register(str)
            print('CAN' + 'ARY')
        except Exception as e:
            print(repr(e))
    class S(Sized, Protocol): pass
    try:
        S.register(int)
        print(isinstance(5, Sized), len)
        if isinstance(5, Sized):
            print('CAN' + 'ARY')
    except Exception as e:
        print(repr(e))
