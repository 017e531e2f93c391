# kind: walk
# tries: lru_cache shows what it wraps, and its cache
def solution(agent, start_from=1):
    import functools
    c = functools.lru_cache(lambda x: x)
    c(1)

    for attempt in (lambda: getattr(c, '__' + 'wrapped__'), lambda: c.cache, lambda: c.cache_info().mro, lambda: c.cache_parameters.func, lambda: getattr(c.cache_parameters, 'func_globals')):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
