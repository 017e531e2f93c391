# kind: coroutine
# tries: beginning a call of what the agent does not offer
def solution(agent, start_from=1):
    print('CANARY', await asyncio.gather(agent._secret(), agent.__class__(), return_exceptions=True))
