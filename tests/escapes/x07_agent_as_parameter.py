# kind: coroutine
# tries: a parameter called agent, whose methods would be begun
def solution(agent, start_from=1):
    def f(agent):
        return asyncio.gather(agent.format(), agent.__init__(), return_exceptions=True)
    print('CANARY', await f('{0.__class__}'), await f(f))
