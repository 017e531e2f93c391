# kind: tasks
# tries: sys.exit in tasks, executors, callbacks and exits hides an assertion
def solution(agent, start_from=1):
    import asyncio, sys
    def cb(f):
        sys.exit(3)
    async def main():
        f = asyncio.Future()
        f.add_done_callback(cb)
        f.set_result(1)
        try:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        except BaseException as e:
            print('c', repr(e))
        print('after')
    try:
        asyncio.run(main())
    except SystemExit as e:
        print('se', e)
    print('on')
    assert False, 'the end'
