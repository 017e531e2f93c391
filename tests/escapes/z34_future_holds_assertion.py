# kind: tasks
# tries: a future is set by a callback with an assertion's failure, and nobody reads it
def solution(agent, start_from=1):
    import asyncio
    async def bad():
        assert False, 'hidden'
    async def main():
        loop = asyncio.get_running_loop()
        f = loop.run_in_executor(None, check)
        try:
            await f
        except BaseException as e:
            print('caught', repr(e))
        return 1
    def check():
        assert False, 'hidden'
    print(asyncio.run(main()))
    print('CAN' + 'ARY went on')
