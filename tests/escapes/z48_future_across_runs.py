# kind: tasks
# tries: a future of a run is awaited in another, and set from a thread
def solution(agent, start_from=1):
    import asyncio, threading
    f = asyncio.Future()
    async def a(): return await f
    async def b():
        threading.Thread(target=lambda: f.set_result(5)).start()
        return await asyncio.wait_for(f, 1)
    try:
        print(asyncio.run(a()))
    except Exception as e:
        print(repr(e))
    try:
        print(asyncio.run(b()))
    except Exception as e:
        print(repr(e))
