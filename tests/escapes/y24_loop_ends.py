# kind: tasks
# tries: a loop's executor, shields and hand-awaited coroutines go on after the plan's end
# a correct runtime must: end everything with the plan
def solution(agent, start_from=1):
    import asyncio
    class Lazy:
        def __await__(self):
            try:
                yield from asyncio.sleep(0).__await__()
                assert False, 'the end'
            finally:
                yield from asyncio.sleep(0).__await__()
    def boom():
        assert False, 'the end'
    async def outlive():
        try:
            await asyncio.sleep(3600)
        finally:
            agent.goto('CANARY')
    async def main():
        loop = asyncio.get_running_loop()
        loop.create_task(outlive())
        guarded = asyncio.shield(outlive())
        await asyncio.sleep(0)
        steps = asyncio.sleep(3600).__await__()
        try:
            while True:
                next(steps)
        except Exception:
            pass
        try:
            await loop.run_in_executor(None, boom)
        except Exception:
            agent.goto('CANARY')
        try:
            await Lazy()
        except Exception:
            agent.goto('CANARY')
    try:
        asyncio.new_event_loop().run_until_complete(main())
    except Exception:
        agent.goto('CANARY')
    agent.goto('CANARY')
