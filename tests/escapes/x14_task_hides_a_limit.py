# kind: tasks
# tries: a loop without end as a value of gather
def solution(agent, start_from=1):
    async def endless():
        n = 0
        while True:
            n += 1
    seen = await asyncio.gather(endless(), return_exceptions=True)
    agent.goto('CANARY')
    print('CANARY', seen)
