# kind: walk
# tries: the parts of functools.partial: func, args, keywords
def solution(agent, start_from=1):
    import functools

    for attempt in (lambda: functools.partial('x'.format).func.func, lambda: functools.partial('x'.format).func.__self__, lambda: functools.partial(print).func.__self__, lambda: 'x'.format.func, lambda: 'x'.format.args):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
