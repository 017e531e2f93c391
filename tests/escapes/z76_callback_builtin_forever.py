# kind: cpu
# tries: a callback without code of the plan runs for ever
def solution(agent, start_from=1):
    import asyncio, functools
    f = asyncio.Future()
    async def main():
        f.add_done_callback(f.add_done_callback)
        f.set_result(1)
        await asyncio.sleep(1)
    f.add_done_callback(functools.partial(f.add_done_callback, f.add_done_callback) if False else f.add_done_callback)
    asyncio.run(main())
    print('on')
