# kind: tasks
# tries: tasks that await themselves and each other
def solution(agent, start_from=1):
    box = []
    async def f(n):
        return await box[n]
    box += [asyncio.create_task(f(0)), asyncio.create_task(f(2)), asyncio.create_task(f(1))]
    print(await asyncio.gather(*box, return_exceptions=True))
