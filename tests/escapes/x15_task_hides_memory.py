# kind: tasks
# tries: a lack of memory as a value of gather, of wait_for and of a pool
def solution(agent, start_from=1):
    async def big():
        return 'x' * 10 ** 9
    def huge():
        x = ['x']
        while True:
            x += x
    import concurrent.futures
    for _ in range(3):
        await asyncio.gather(big(), return_exceptions=True)
        print('CANARY', concurrent.futures.ThreadPoolExecutor().submit(huge).exception())
