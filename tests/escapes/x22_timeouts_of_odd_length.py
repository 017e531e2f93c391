# kind: tasks
# tries: limits of odd lengths, one within the other
def solution(agent, start_from=1):
    for length in (float('nan'), -1, 'x', 10 ** 400, 0):
        try:
            async with asyncio.timeout(length):
                async with asyncio.timeout(length):
                    await asyncio.wait([asyncio.create_task(asyncio.sleep(0))], timeout=length)
        except (TypeError, ValueError, OverflowError, TimeoutError):
            pass
