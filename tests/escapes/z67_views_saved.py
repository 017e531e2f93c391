# kind: ckpt
# tries: a checkpoint of views, proxies, aliases, futures and partials
def solution(agent, start_from=1):
    import functools, asyncio, typing, inspect
    from collections.abc import Mapping, KeysView
    from concurrent.futures import Future, wait
    if start_from <= 1:
        class M(Mapping):
            def __init__(self): self.d = {'a': 1}
            def __getitem__(self, k): return self.d[k]
            def __iter__(self): return iter(self.d)
            def __len__(self): return 1
        m = M()
        k = m.keys()
        g = globals()
        v = memoryview(bytearray(b'abc'))
        f = Future()
        p = functools.partial(print, 1)
        s = inspect.Parameter('a', inspect.Parameter.VAR_KEYWORD)
        w = wait([], timeout=0)
        x = [g, v, f, p, s, w, k, m]
        assert m
    if start_from <= 2:
        print(m['a'])
        m.d = v
        m.e = {1, m}
        assert x
    if start_from <= 3:
        print(x)
        assert x
