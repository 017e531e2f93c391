# kind: tasks
# tries: generators and coroutines that refuse to end, by continue in finally, act after the plan's end
# a correct runtime must: end everything with the plan
def solution(agent, start_from=1):
    import asyncio
    def stays():
        while True:
            try:
                yield 1
            finally:
                agent.goto('CANARY')
                continue
    async def lives():
        while True:
            try:
                await asyncio.sleep(1)
            finally:
                continue
    async def main():
        asyncio.create_task(lives())
        await asyncio.sleep(0)
        assert False, 'the end'
    kept = stays()
    next(kept)
    asyncio.run(main())
