# kind: tasks
# tries: replan and give_up within tasks, past their ends
def solution(agent, start_from=1):
    async def ends(how):
        how('no more')
    for how in (replan, give_up):
        await asyncio.gather(ends(how), return_exceptions=True)
        agent.goto('CANARY')
