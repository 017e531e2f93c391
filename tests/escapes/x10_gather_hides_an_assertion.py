# kind: tasks
# tries: a failed assertion as a value of gather
def solution(agent, start_from=1):
    async def bad():
        assert False, 'bad'
    seen = await asyncio.gather(bad(), return_exceptions=True)
    print('CANARY', seen)
    agent.goto('CANARY')
