# kind: coroutine
# tries: the frame of a suspended coroutine
def solution(agent, start_from=1):
    async def f():
        await asyncio.sleep(0)
    c = f()
    print('CANARY', c.cr_frame.f_back.f_globals, c.cr_code)
