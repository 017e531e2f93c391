# kind: tasks
# tries: sleeps of no time in a loop without end, beside an open call
def solution(agent, start_from=1):
    call = asyncio.create_task(agent.goto('shelf 1'))
    while True:
        await asyncio.sleep(0)
