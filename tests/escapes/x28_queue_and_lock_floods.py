# kind: tasks
# tries: queues, locks and events with millions of waiters
def solution(agent, start_from=1):
    queue, lock, event = asyncio.Queue(), asyncio.Lock(), asyncio.Event()
    async def waits():
        await asyncio.gather(queue.get(), lock.acquire(), lock.acquire(), event.wait())
    while True:
        asyncio.create_task(waits())
        queue.put_nowait('x' * 1_000_000)
