# kind: tasks
# tries: AsyncExitStack hides the plan's end, or gives it to the plan's functions
# a correct runtime must: hide nothing
def solution(agent, start_from=1):
    import asyncio
    from contextlib import AsyncExitStack
    seen = []
    class Swallow:
        async def __aenter__(self): return self
        async def __aexit__(self, kind, error, trace):
            seen.append((kind, error, trace))
            return True
        def __enter__(self): return self
        def __exit__(self, kind, error, trace):
            seen.append((kind, error, trace))
            return True
    async def swallow(*error):
        seen.append(error)
        return True
    async def main():
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(Swallow())
            stack.enter_context(Swallow())
            stack.push_async_exit(swallow)
            stack.push_async_exit(Swallow())
            stack.push(lambda *a: seen.append(a) or True)
            stack.push_async_callback(swallow)
            stack.callback(print, 'left')
            assert False, 'the end'
        agent.goto('CANARY')
    try:
        asyncio.run(main())
    except Exception:
        pass
    finally:
        for kind, error, trace in seen[1:]:
            if trace is not None or not issubclass(kind, Exception):
                print('CAN' + 'ARY', kind)
        agent.goto('CANARY')
