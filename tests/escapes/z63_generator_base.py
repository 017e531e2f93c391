# kind: class
# tries: deriving from Generator and Coroutine poses as a coroutine of the runtime
def solution(agent, start_from=1):
    from collections.abc import Generator, AsyncGenerator, Awaitable, AsyncIterator
    import asyncio, inspect
    class G(Generator):
        def send(self, v):
            raise StopIteration(5)
        def throw(self, *a):
            print('thrown', a)
            return 1
    class A(Awaitable):
        def __await__(self): return G()
    async def main():
        print(await A())
    asyncio.run(main())
    class Loop(Generator):
        def send(self, v): return None
        def throw(self, *a):
            return None
    class B(Awaitable):
        def __await__(self): return Loop()
    async def forever():
        await B()
    asyncio.run(asyncio.wait_for(forever(), 0.1))
    print('CAN' + 'ARY went on')
