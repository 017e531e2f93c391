# id: x24_begins_without_end
# kind: tasks
# tries: calls that begin without end, with nobody who waits
# a correct runtime must: end the plan as it would end without tasks: no task, group or pool hides a failed assertion, a limit or an ending
def solution(agent, start_from=1):
    tasks = []
    while True:
        tasks.append(asyncio.create_task(agent.report()))
