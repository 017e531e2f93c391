# id: x26_finally_after_the_end
# kind: tasks
# tries: a finally block that runs when the plan is over, and acts
# a correct runtime must: end the plan as it would end without tasks: no task, group or pool hides a failed assertion, a limit or an ending
def solution(agent, start_from=1):
    async def f():
        try:
            await asyncio.Event().wait()
        finally:
            agent.goto('CANARY')
    task = asyncio.create_task(f())
    await asyncio.sleep(0)
    assert False, 'over'
