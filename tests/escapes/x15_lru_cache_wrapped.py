# kind: walk
# tries: lru_cache shows what it wraps, and its cache; what it wraps may be of the runtime or pose as a function
def solution(agent, start_from=1):
    import functools, operator, re
    mine = lambda x: x
    class Poses:
        __slots__ = ()
        def __call__(self): return 1
        def __getattr__(self, name):
            if name == '__wrapped__':
                return print
            raise AttributeError(name)
    for given in (mine, print, len, re.sub, functools.wraps, functools.partial(print), agent.report, Poses(), functools.lru_cache(print)):
        try:
            c = functools.lru_cache(given)
        except TypeError:
            continue
        for attempt in (lambda: c.__wrapped__, lambda: operator.attrgetter('__wrapped__')(c), lambda: '{0.__wrapped__}'.format(c)):
            try:
                if attempt() is not mine and given is not mine:
                    print('CANARY-WALK', attempt())
            except (AttributeError, ValueError):
                pass
        for attempt in (lambda: c.cache, lambda: c.cache_info().mro, lambda: c.cache_parameters.func, lambda: getattr(c.cache_parameters, 'func_globals'), lambda: getattr(c, '__' + 'dict__'), lambda: getattr(c, '__' + 'globals__'), lambda: getattr(c.__wrapped__, '__' + 'code__')):
            try:
                print('CANARY-WALK', attempt())
            except (AttributeError, TypeError, ValueError, KeyError, NameError):
                pass
        def wrapper(): pass
        functools.update_wrapper(wrapper, c)
        for name in ('__globals__', '__code__', '__closure__'):
            try:
                print('CANARY-WALK', getattr(wrapper.__wrapped__, name))
            except (AttributeError, ValueError):
                pass
