# kind: dunder
# tries: generic aliases forward attribute access to the class behind them
def solution(agent, start_from=1):
    from typing import Generic, TypeVar, List, Type
    T = TypeVar('T')
    class A(Generic[T]): pass
    for alias in (A[int], List[int], list[int], Type[int], type[int], A[A]):
        for name in ('__origin__', '__args__', '__class__', '__mro__', '__subclasses__', '__init__', '__reduce__', '__parameters__', 'mro', '_inst', '__dict__'):
            try:
                v = getattr(alias, name)
                print('CANARY-WALK' if name == '__subclasses__' or (name == '__origin__' and v not in (A, list, type)) else 'read')
            except Exception as e:
                print(type(e).__name__)
        try:
            print(alias('X', (), {}))
        except Exception as e:
            print(type(e).__name__)
