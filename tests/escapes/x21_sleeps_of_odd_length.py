# kind: tasks
# tries: sleeps for ever, for no number and for less than nothing
def solution(agent, start_from=1):
    for length in (float('nan'), float('-inf'), -1, 'CANARY', None, 1j, True, [1], 10 ** 400, float('inf')):
        try:
            await asyncio.sleep(length)
        except (TypeError, ValueError, OverflowError):
            pass
