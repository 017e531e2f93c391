# kind: tasks
# tries: a memory limit as a value of gather
def solution(agent, start_from=1):
    async def deep(n):
        return bytearray(10 ** 12)
    seen = await asyncio.gather(deep(0), return_exceptions=True)
    print('CANARY', seen)
    agent.goto('CANARY')
