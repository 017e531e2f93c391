# id: x12_group_hides_an_assertion
# kind: tasks
# tries: a failed assertion within an exception group
# a correct runtime must: end the plan as it would end without tasks: no task, group or pool hides a failed assertion, a limit or an ending
def solution(agent, start_from=1):
    async def bad():
        assert False, 'bad'
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(bad())
    except Exception:
        print('CANARY')
    agent.goto('CANARY')
