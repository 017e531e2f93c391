# kind: cpu
# tries: loops whose timers, sleeps and callbacks feed themselves without a turn
def solution(agent, start_from=1):
    import asyncio
    def again(f):
        n = asyncio.Future()
        n.add_done_callback(again)
        n.set_result(1)
    async def main():
        f = asyncio.Future()
        f.add_done_callback(again)
        f.set_result(1)
        await asyncio.sleep(5)
        return 'slept'
    print(asyncio.run(main()))
    print('CAN' + 'ARY went on')
