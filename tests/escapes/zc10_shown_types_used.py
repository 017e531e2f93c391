# kind: walk
# tries: a type that is only shown, as a base, in unions, patterns, handlers, keys and annotations, leads to the real one
def solution(agent, start_from=1):
    import abc, copy, dataclasses, enum, functools, inspect, operator, string, typing, types

    def f():
        pass

    things = [f, agent, abc, f.__class__, functools.cache(f), iter([]), dataclasses.field(), (lambda: (yield))()]
    names = ('_kind', 'full_name', 'read', '__mro__', '__dict__', '__subclasses__', '__bases__', '__new__', '__init__')
    for thing in things:
        shown = type(thing)
        reads = [
            lambda n: getattr(shown, n),
            lambda n: operator.attrgetter(n)(shown),
            lambda n: object.__getattribute__(shown, n),
            lambda n: dict(inspect.getmembers(shown))[n],
            lambda n: string.Formatter().format('{0.' + n + '}', shown),
            lambda n: vars(shown)[n],
        ]
        for name in names:
            for read in reads:
                try:
                    found = read(name)
                    if type(shown) is not type or name in ('_kind', 'full_name', 'read', '__subclasses__'):
                        print('CAN' + 'ARY', shown, name, found)
                except (AttributeError, TypeError, KeyError) as e:
                    print(type(e).__name__)
        for use in (lambda: shown(f), lambda: type('K', (shown,), {}), lambda: enum.Enum('E', 'A', type=shown)):
            try:
                print('got', use()) if shown is not type((lambda: (yield))()) else None
            except (TypeError, ValueError, AttributeError) as e:
                print(type(e).__name__, e)
        try:
            held = {shown: copy.deepcopy([shown]), typing.Optional[shown]: types.GenericAlias(shown, int)}
            print(isinstance(thing, (int, shown)), issubclass(int, shown), len(held))
        except TypeError as e:
            print(e)
