# kind: tasks
# tries: a finally block that runs when the plan is over, and acts
def solution(agent, start_from=1):
    async def f():
        try:
            await asyncio.Event().wait()
        finally:
            agent.goto('CANARY')
    task = asyncio.create_task(f())
    await asyncio.sleep(0)
    assert False, 'over'
