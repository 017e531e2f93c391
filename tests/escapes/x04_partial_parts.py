# kind: walk
# tries: the parts of functools.partial: func, args, keywords
def solution(agent, start_from=1):
    import functools

    for attempt in (lambda: functools.partial('x'.format).func, lambda: functools.partial(print).keywords, lambda: functools.partial(print).args):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
