# kind: coroutine
# tries: the fields of a task, and of a call, by getattr
def solution(agent, start_from=1):
    task = asyncio.create_task(agent.goto('shelf 1'))
    for name in ('_scheduler', '_coroutine', '_wakes', '_finish', '_age', '__await__', '__dict__'):
        print('CANARY', getattr(task, name))
