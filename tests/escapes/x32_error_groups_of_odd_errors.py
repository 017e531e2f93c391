# kind: tasks
# tries: errors of a group whose text fails
def solution(agent, start_from=1):
    class_ = type('', (), {}) if False else ValueError
    async def odd():
        raise class_('CANARY' * 10, [0] * 10)
    async with asyncio.TaskGroup() as group:
        for _ in range(50):
            group.create_task(odd())
