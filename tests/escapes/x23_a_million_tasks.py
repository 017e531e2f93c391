# kind: tasks
# tries: a million tasks, each of which begins another
def solution(agent, start_from=1):
    async def spawn(n):
        asyncio.create_task(spawn(n + 1))
        asyncio.create_task(spawn(n + 1))
    asyncio.create_task(spawn(0))
    while True:
        await asyncio.sleep(0)
