# kind: walk
# tries: cached_property writes into whatever it is asked for
def solution(agent, start_from=1):
    import functools
    c = functools.cached_property(lambda self: 1)

    for attempt in (lambda: c.func, lambda: c.attrname, lambda: c.lock, lambda: getattr(c, '__' + 'get__')(print, None)):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
