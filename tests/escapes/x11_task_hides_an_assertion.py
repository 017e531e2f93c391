# kind: tasks
# tries: a failed assertion as the exception of a task
def solution(agent, start_from=1):
    async def bad():
        assert False, 'bad'
    task = asyncio.create_task(bad())
    await asyncio.wait([task])
    print('CANARY', task.done())
    agent.goto('CANARY')
