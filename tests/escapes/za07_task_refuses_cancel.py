# kind: tasks
# tries: a task that loses its cancellation in finally keeps the plan alive for ever
# a correct runtime must: stop it at a limit
def solution(agent, start_from=1):
    import asyncio
    async def lives():
        while True:
            try:
                await asyncio.sleep(0)
            finally:
                continue
    async def main():
        asyncio.create_task(lives())
        await asyncio.sleep(0)
    asyncio.run(main())
    agent.goto('CANARY')
