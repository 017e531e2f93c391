# kind: tasks
# tries: a loop runs itself until complete inside its own task
def solution(agent, start_from=1):
    import asyncio
    async def inner(): return 1
    async def main():
        loop = asyncio.get_running_loop()
        t = asyncio.current_task()
        try:
            print(loop.run_until_complete(t))
        except Exception as e:
            print(repr(e))
        try:
            print(loop.run_until_complete(main()))
        except Exception as e:
            print(repr(e))
    asyncio.run(main())
