# kind: walk
# tries: abstract classes are registered with, and walked
def solution(agent, start_from=1):
    import collections.abc, numbers

    for attempt in (lambda: collections.abc.Mapping.register(int), lambda: collections.abc.Mapping.mro(), lambda: numbers.Number.register(str), lambda: getattr(collections.abc.Callable, '__' + 'subclasses__')(), lambda: collections.abc.Mapping.get):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
