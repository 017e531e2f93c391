# kind: tasks
# tries: a failed assertion within an exception group
def solution(agent, start_from=1):
    async def bad():
        assert False, 'bad'
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(bad())
    except Exception:
        print('CANARY')
    agent.goto('CANARY')
