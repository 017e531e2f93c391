# kind: tasks
# tries: except CancelledError around a loop without end
def solution(agent, start_from=1):
    async def endless():
        while True:
            try:
                while True:
                    pass
            except asyncio.CancelledError:
                agent.goto('CANARY')
            finally:
                agent.report()
    await asyncio.wait_for(endless(), 0.01)
