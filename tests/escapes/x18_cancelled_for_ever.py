# kind: tasks
# tries: a task that is never cancelled
def solution(agent, start_from=1):
    async def stubborn():
        while True:
            try:
                await asyncio.sleep(5)
            except asyncio.CancelledError:
                agent.report()
    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    print('over')
