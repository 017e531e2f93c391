# kind: walk
# tries: the parts of generic aliases and the types of iterators lead to Python's own type, and to classes that make any class
# a correct runtime must: give what the plan gave, and type as plans see it
def solution(agent, start_from=1):
    import itertools, typing, types
    from typing import Annotated, Generic, Literal, Optional, TypeVar
    T = TypeVar('T')
    class G(Generic[T]):
        __slots__ = ()
    def late(*a):
        print('CAN' + 'ARY called')
    kinds = [type[int], typing.Type[int], Optional[type], Annotated[type, agent], Literal['a'], list[type], G[int], G[type], typing.Callable[[type], type], type | None, types.GenericAlias(type, (int,)), types.GenericAlias(agent, (agent,))]
    for kind in kinds:
        for name in ('__origin__', '__args__', '__metadata__', '__parameters__', '__unpacked__', '__mro_entries__', '__reduce__', '__class__', '_inst', '_name', 'copy_with', '_getitem'):
            try:
                found = getattr(kind, name)
            except (AttributeError, TypeError):
                continue
            for part in found if isinstance(found, tuple) else (found,):
                for door in (lambda: part('Made', (), {'__del__': late}), lambda: part.__subclasses__(G), lambda: part.mro(), lambda: part.__call__(1), lambda: part.__setattr__(G, 'x', 1)):
                    try:
                        got = door()
                        if not (part is int or got == [G, Generic, object] or isinstance(got, (int, list, tuple, str)) or got is None or got is kind):
                            print('CAN' + 'ARY', kind, name, part, got)
                    except (AttributeError, TypeError, NameError, ValueError, KeyError):
                        pass
    for value in (itertools.count(), itertools.groupby('aab'), next(itertools.groupby('a'))[1], itertools.tee('ab')[0], itertools.chain('a'), itertools.cycle('a')):
        try:
            kind = type(value)
        except TypeError:
            continue
        if kind.__name__ in ('_grouper', '_tee', '_tee_dataobject', 'type'):
            try:
                print('CAN' + 'ARY', kind('ab'))
            except TypeError:
                pass
        for name in ('__reduce__', '__setstate__', '__subclasses__', '__init__.__globals__', '__new__', '__dict__', '__copy__'):
            try:
                print(getattr(kind, name))
                if name != '__new__':
                    print('CAN' + 'ARY', name)
            except (AttributeError, TypeError):
                pass
