# kind: swallow
# tries: a return in finally, in each kind of function, loses a failed assertion
# a correct runtime must: let only the handler that names it go on, and end the plan with the last one
def solution(agent, start_from=1):
    import asyncio, functools
    from concurrent.futures import ThreadPoolExecutor
    from contextlib import contextmanager
    def f(x=0):
        try:
            assert x, 'the end'
        finally:
            return 1
    async def g():
        try:
            assert False, 'the end'
        finally:
            return 1
    def h():
        try:
            yield 1
            assert False, 'the end'
        finally:
            return
    @contextmanager
    def c():
        try:
            yield
        finally:
            return
    @functools.lru_cache
    def k():
        try:
            raise ValueError
        except ValueError:
            assert False, 'the end'
        finally:
            return 1
    def w():
        with c():
            assert False, 'the end'
    class A:
        def __eq__(self, other):
            return f()
        def __bool__(self):
            return bool(f())
    def s():
        with ThreadPoolExecutor() as pool:
            return pool.submit(f).result()
    ways = [f, lambda: asyncio.run(g()), lambda: list(h()), k, w, lambda: [1] == [A()], lambda: bool(A()), s, lambda: sorted([2, 1], key=lambda each: f()), lambda: list(map(f, [0]))]
    for way in ways:
        try:
            way()
        except AssertionError:
            print('caught by its name')
            continue
        agent.goto('CANARY')
    f()
    agent.goto('CANARY')
