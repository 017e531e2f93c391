# kind: tasks
# tries: a thousand open calls with arguments at the limit
def solution(agent, start_from=1):
    tasks = [asyncio.create_task(agent.echo(['x' * 60_000])) for _ in range(1_000)]
    await asyncio.wait(tasks)
