# id: x20_sleeps_without_end
# kind: tasks
# tries: sleeps of no time in a loop without end, beside an open call
# a correct runtime must: end the plan as it would end without tasks: no task, group or pool hides a failed assertion, a limit or an ending
def solution(agent, start_from=1):
    call = asyncio.create_task(agent.goto('shelf 1'))
    while True:
        await asyncio.sleep(0)
