# kind: tasks
# tries: a future gets an error that poses as an end
def solution(agent, start_from=1):
    import asyncio
    from concurrent.futures import Future
    class E(Exception):
        pass
    for given in (SystemExit, KeyboardInterrupt, GeneratorExit, BaseException, asyncio.CancelledError, AssertionError, E(), StopIteration(3), agent, 5, type):
        f = Future()
        try:
            f.set_exception(given)
            print(repr(f.exception())[:60])
        except BaseException as e:
            print(repr(e)[:80])
