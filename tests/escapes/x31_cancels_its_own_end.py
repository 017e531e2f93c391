# kind: tasks
# tries: a task that is cancelled by what it awaits, and a group by its own task
def solution(agent, start_from=1):
    async def kills(task):
        task.cancel()
        await asyncio.sleep(0)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(kills(asyncio.current_task()))
            await asyncio.sleep(1)
    finally:
        agent.report()
