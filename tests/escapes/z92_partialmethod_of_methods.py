# kind: class
# tries: partialmethod binds other methods of the runtime to objects of the plan
def solution(agent, start_from=1):
    import functools, asyncio, sys, random, logging, threading
    from concurrent.futures import Future, ThreadPoolExecutor
    f = Future()
    got = []
    class Any:
        def __getattr__(self, name):
            def call(*a, **k):
                got.append((name, a, k))
                return self
            return call
        def __getitem__(self, k): return self
        def __call__(self, *a, **k):
            got.append(('call', a, k))
            return self
    pool = ThreadPoolExecutor()
    lock = threading.Lock()
    for m, args in ((f.add_done_callback, (5,)), (f.set_result, (1,)), (f.result, ()), (f.cancel, ()), (pool.submit, (print, 1)), (pool.shutdown, ()), (sys.stdout.write, ('x',)), (random.choice, ([1],)), (random.shuffle, ([1, 2],)), (asyncio.Queue().put_nowait, (1,)), (asyncio.new_event_loop().run_in_executor, (None, print)), (asyncio.new_event_loop().run_until_complete, (1,)), (asyncio.Event().set, ()), (lock.acquire, ()), (logging.getLogger().info, ('x',)), (asyncio.Runner().run, (5,))):
        class C(Any):
            h = functools.partialmethod(m)
        got.clear()
        try:
            print(getattr(m, '__name__', '?'), repr(C().h(*args))[:60], [(n, [repr(x)[:60] for x in a]) for n, a, k in got][:4])
        except Exception as e:
            print(getattr(m, '__name__', '?'), repr(e)[:80])
