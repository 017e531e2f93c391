# kind: exec
# tries: singledispatch evaluates annotations of what it registers
def solution(agent, start_from=1):
    import functools
    def f(x: "print('CANARY-EXEC')"):
        return 1
    d = functools.singledispatch(f)

    for attempt in (lambda: d.register(f), lambda: d.registry.update(x=1) or d.registry['x'], lambda: d.dispatch(5), lambda: d.register(5, f)):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
