# kind: names
# tries: from Python 3.13 on, a __signature__ may be a text, whose names Python evaluates; cached functions and context managers take it over from an object of the plan
# a correct runtime must: evaluate nothing of a plan's texts, whatever object holds them
def solution(agent, start_from=1):
    import contextlib
    import dataclasses
    import functools

    class Called:
        def __call__(self, *given):
            return 1

    class Around(contextlib.ContextDecorator):
        def __enter__(self):
            return self

        def __exit__(self, *given):
            return None

    @contextlib.contextmanager
    def manager():
        yield 1

    for wrap in (functools.cache, functools.lru_cache(2), contextlib.contextmanager, Around(), manager(), functools.wraps, functools.partial):
        called = Called()
        called.__name__ = called.__qualname__ = called.__doc__ = 'called'
        try:
            vars(called)['__module__'] = 'codeplan.sandbox'
            vars(called)['__signature__'] = '(self, a=codeplan.sandbox.runtime.classes.CLASS_MARK, b=sys.flags.hash_randomization)'

            class K:
                __init__ = wrap(called)

            K.__doc__ = ''
            dataclasses.dataclass(init=False)(K)
            print('CAN' + 'ARY' if 'b=' in K.__doc__ else 'fine', K.__doc__)
        except (AttributeError, TypeError, ValueError) as e:
            print(type(e).__name__, e)
