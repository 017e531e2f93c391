# kind: tasks
# tries: a future's error is StopIteration, which ends coroutines
def solution(agent, start_from=1):
    import asyncio
    async def main():
        f = asyncio.Future()
        f.set_exception(StopIteration(7))
        try:
            print(await f)
        except BaseException as e:
            print('E', repr(e))
        return 'x'
    print(asyncio.run(main()))
