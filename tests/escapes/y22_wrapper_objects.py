# kind: class
# tries: update_wrapper writes to what is not the plan's
# a correct runtime must: write to the plan's own functions and objects alone
def solution(agent, start_from=1):
    import functools
    def f(): pass
    f.location = f.holding = 'CANARY'
    class K:
        pass
    class S:
        __slots__ = ()
    class H:
        def __setattr__(self, name, value):
            if name.startswith('__') and name not in ('__name__', '__qualname__', '__doc__', '__module__', '__wrapped__'):
                print('CAN' + 'ARY', name)
    for target in (agent, agent.goto, print, json, re, K, S(), H(), functools.wraps, object, dict, 5, lambda: 1):
        for source in (f, print, agent.goto, json.dumps, K, K(), 5, None):
            try:
                functools.update_wrapper(target, source)
                functools.wraps(source)(target)
            except (AttributeError, TypeError):
                pass
    print(agent.location, K().__class__, agent.goto.__name__)
    k = K()
    functools.update_wrapper(k, print)
    for name in ('__globals__', '__code__', '__kwdefaults__', '__closure__', '__builtins__'):
        try:
            print('CAN' + 'ARY', getattr(k, name), getattr(k.__wrapped__, name))
        except AttributeError:
            pass
