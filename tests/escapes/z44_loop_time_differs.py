# kind: tasks
# tries: the clock of the loop is read between sleeps and callbacks
def solution(agent, start_from=1):
    import asyncio, time
    async def main():
        loop = asyncio.get_running_loop()
        a = [loop.time(), time.monotonic(), time.time()]
        await asyncio.sleep(0.03)
        a += [loop.time(), time.monotonic()]
        async with asyncio.timeout_at(loop.time() + 0.01):
            try:
                await asyncio.sleep(5)
            except BaseException as e:
                print(repr(e))
                raise
    try:
        asyncio.run(main())
    except Exception as e:
        print(repr(e))
