# kind: tasks
# tries: loops, runners and futures of asyncio lead to the scheduler
# a correct runtime must: show plain futures and times alone
def solution(agent, start_from=1):
    import asyncio
    from concurrent.futures import ThreadPoolExecutor, wait
    async def main():
        loop = asyncio.get_running_loop()
        f = loop.create_future()
        t = asyncio.create_task(asyncio.sleep(0), name='x')
        things = [loop, f, t, asyncio.Runner(), asyncio.Future(), asyncio.Task, asyncio.Future, asyncio.AbstractEventLoop, asyncio.all_tasks(), loop.run_in_executor(None, len, '')]
        for thing in things:
            for name in ('_scheduler', '_module', '_run', '_coroutine', '_wakes', '_number', 'context', 'throw', 'kinds', 'gi_frame', 'cr_frame', '__dict__', '_loop', '_ready', '_selector', 'get_coro', 'get_stack', 'call_soon', 'add_reader', 'subprocess_exec', 'run_forever'):
                try:
                    print('CAN' + 'ARY', name, getattr(thing, name))
                except AttributeError:
                    pass
        for make in (lambda: asyncio.AbstractEventLoop(agent, agent), lambda: asyncio.Task(main()), lambda: asyncio.Future(agent), lambda: asyncio.Future(loop=agent).set_exception(GeneratorExit()), lambda: asyncio.Future().set_exception(KeyboardInterrupt), lambda: type(loop)(1, 2), lambda: type(t)(1, 2)):
            try:
                print('CAN' + 'ARY', make())
            except (TypeError, AttributeError):
                pass
        for kind in (asyncio.Task, asyncio.Future, asyncio.AbstractEventLoop):
            try:
                class K(kind):
                    pass
                print('CAN' + 'ARY', K)
            except TypeError:
                pass
        await t
    try:
        asyncio.run(main())
    except RuntimeError as e:
        print(e)
    with ThreadPoolExecutor() as pool:
        found = wait([pool.submit(len, '')])
        for name in ('_make', '_replace', '_field_defaults'):
            try:
                print('CAN' + 'ARY', getattr(found, name))
            except (AttributeError, TypeError):
                pass
        for door in (lambda: found.__class__((), ()), lambda: found.__class__._make, lambda: found.__class__._kind):
            try:
                print('CAN' + 'ARY', door())
            except (AttributeError, TypeError):
                pass
