# kind: coroutine
# tries: driving a coroutine by hand, past the scheduler
def solution(agent, start_from=1):
    async def f():
        return await asyncio.sleep(0)
    c = f()
    print('CANARY', c.send(None), c.throw(ValueError), c.close())
