# kind: tasks
# tries: many coroutines that are never awaited: their warnings read files
def solution(agent, start_from=1):
    async def f(n):
        try:
            await asyncio.sleep(n)
        finally:
            print('CANARY')
    for n in range(2_000):
        f(n)
