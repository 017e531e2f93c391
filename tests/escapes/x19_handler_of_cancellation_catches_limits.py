# id: x19_handler_of_cancellation_catches_limits
# kind: tasks
# tries: except CancelledError around a loop without end
# a correct runtime must: end the plan as it would end without tasks: no task, group or pool hides a failed assertion, a limit or an ending
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
