# id: x32_error_groups_of_odd_errors
# kind: tasks
# tries: errors of a group whose text fails
# a correct runtime must: end the plan as it would end without tasks: no task, group or pool hides a failed assertion, a limit or an ending
def solution(agent, start_from=1):
    class_ = type('', (), {}) if False else ValueError
    async def odd():
        raise class_('CANARY' * 10, [0] * 10)
    async with asyncio.TaskGroup() as group:
        for _ in range(50):
            group.create_task(odd())
