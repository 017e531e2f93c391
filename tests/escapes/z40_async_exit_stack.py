# kind: swallow
# tries: an asynchronous exit stack hides an assertion and a limit
def solution(agent, start_from=1):
    import asyncio, contextlib
    async def hide(*a): return True
    async def main(n):
        async with contextlib.AsyncExitStack() as s:
            s.push_async_exit(hide)
            s.push(lambda *a: True)
            t = s.pop_all()
            async with t:
                if n: assert False, 'hidden'
                x = 'a' * 10 ** 10
        print('CAN' + 'ARY went on')
    asyncio.run(main(1))
    print('CAN' + 'ARY went on 2')
