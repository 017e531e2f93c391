# kind: walk
# tries: functools.wraps and update_wrapper copy any attribute by name
def solution(agent, start_from=1):
    import functools
    def f():
        return 1

    for attempt in (lambda: functools.wraps(print, assigned=('__globals__',))(f), lambda: functools.update_wrapper(f, print, ('__code__',), ()), lambda: functools.update_wrapper(f, print, updated=('__dict__',))):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
