# kind: tasks
# tries: a shielded task fails after nobody waits for it
def solution(agent, start_from=1):
    import asyncio
    async def bad():
        await asyncio.sleep(0.01)
        assert False, 'hidden'
    async def main():
        t = asyncio.shield(bad())
        t.cancel()
        try:
            await t
        except asyncio.CancelledError:
            print('cancelled')
        await asyncio.sleep(0.05)
        return 1
    print(asyncio.run(main()))
    print('CAN' + 'ARY went on')
