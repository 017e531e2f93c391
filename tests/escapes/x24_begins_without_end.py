# kind: tasks
# tries: calls that begin without end, with nobody who waits
def solution(agent, start_from=1):
    tasks = []
    while True:
        tasks.append(asyncio.create_task(agent.report()))
