# kind: tasks
# tries: __await__ by hand drives a future and swallows what comes
def solution(agent, start_from=1):
    import asyncio
    async def bad():
        assert False, 'hidden'
    def drive(c):
        try:
            for x in c.__await__():
                print('yielded', x)
        except BaseException as e:
            print('caught', repr(e))
    class A:
        def __await__(self):
            try:
                return (yield from bad().__await__())
            finally:
                raise KeyError(5)
    async def main():
        try:
            print(await A())
        except KeyError:
            pass
    asyncio.run(main())
    print('CAN' + 'ARY went on')
