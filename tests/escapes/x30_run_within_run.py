# kind: tasks
# tries: event loops within event loops, to a limit of memory
def solution(agent, start_from=1):
    async def deep(n):
        return asyncio.run(deep(n + 1)) if n < 20 else bytearray(10 ** 12)
    print('CANARY', await asyncio.gather(deep(0), return_exceptions=True))
