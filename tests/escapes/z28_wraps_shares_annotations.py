# kind: class
# tries: wraps copies the annotations of a runtime function, and the plan changes them
def solution(agent, start_from=1):
    import functools, json, inspect
    @functools.wraps(json.dumps)
    def f(a: int): return a
    print(f.__annotations__, f.__wrapped__, f.__name__)
    try:
        print(f.__wrapped__.__annotations__)
        print('CAN' + 'ARY')
    except AttributeError as e:
        print(repr(e))
    try:
        print(inspect.signature(f))
    except Exception as e:
        print(repr(e))
    class C:
        def __call__(self, x): return x
    c = functools.update_wrapper(C(), json.dumps)
    print(c.__wrapped__, c.__dict__)
