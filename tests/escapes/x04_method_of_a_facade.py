# kind: coroutine
# tries: the globals of the functions of asyncio, and of their methods' objects
def solution(agent, start_from=1):
    for f in (asyncio.run, asyncio.sleep, asyncio.gather, asyncio.Lock, asyncio.TaskGroup):
        print('CANARY', f.__globals__, f.__closure__, f.__self__)
