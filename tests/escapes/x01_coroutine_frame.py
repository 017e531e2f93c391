# id: x01_coroutine_frame
# kind: coroutine
# tries: the frame of a suspended coroutine
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    async def f():
        await asyncio.sleep(0)
    c = f()
    print('CANARY', c.cr_frame.f_back.f_globals, c.cr_code)
