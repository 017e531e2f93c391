# kind: coroutine
# tries: awaiting a guard by its name
def solution(agent, start_from=1):
    async def f():
        return await _await_(_begin_(agent, '_secret'))
    print('CANARY', await f())
