"""Programs with coroutines print in a plan what they print in Python, whose event loop runs in this process."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import io
import textwrap

import pytest
from support.caged import SampleHome, answer

from codeplan.sandbox import Limits, Sandbox
from codeplan.types import Finished

PROGRAMS = {
    "a condition and queues by priority and from the end": """
        async def main():
            ready, jobs, last = asyncio.Condition(), asyncio.PriorityQueue(), asyncio.LifoQueue(2)
            items = []
            async def waiter(n):
                async with ready:
                    await ready.wait_for(lambda: len(items) >= n)
                    print('waiter', n, items)
            async def adder():
                for n in range(3):
                    await asyncio.sleep(0.01)
                    async with ready:
                        items.append(n)
                        ready.notify_all() if n else ready.notify()
            await asyncio.gather(waiter(3), waiter(1), adder())
            for n in (3, 1, 2):
                jobs.put_nowait((n, 'job'))
            last.put_nowait('a')
            await last.put('b')
            print([jobs.get_nowait() for _ in range(3)], last.full(), await last.get(), ready.locked())
            try:
                ready.notify()
            except RuntimeError as error:
                print(error)
        asyncio.run(main())
    """,
    "results in order": """
        async def one(n):
            await asyncio.sleep(0.03 - n / 100)
            print(n)
            return n * n
        async def main():
            print(await asyncio.gather(*(one(n) for n in range(3))))
        asyncio.run(main())
    """,
    "errors as values": """
        async def fails():
            raise ValueError('no')
        async def works():
            return 1
        async def main():
            print(await asyncio.gather(fails(), works(), return_exceptions=True))
            try:
                await asyncio.gather(works(), fails())
            except ValueError as error:
                print('caught', error)
        asyncio.run(main())
    """,
    "a group": """
        async def work(n):
            await asyncio.sleep(n / 100)
            return n
        async def main():
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(work(n)) for n in range(3)]
            print([task.result() for task in tasks], [task.done() for task in tasks])
        asyncio.run(main())
    """,
    "tasks that are ready run before a group knows of an error": """
        async def fails(n):
            print(n)
            raise KeyError(n)
        async def main():
            try:
                async with asyncio.TaskGroup() as group:
                    for n in range(3):
                        group.create_task(fails(n))
                    await asyncio.sleep(0)
                    raise ValueError('own')
            except* KeyError as errors:
                print(len(errors.exceptions))
            except* ValueError as errors:
                print('last', errors.exceptions)
        asyncio.run(main())
    """,
    "turns without a wait": """
        async def counts(name):
            for n in range(3):
                print(name, n)
                await asyncio.sleep(0)
        async def begun():
            print('begun')
            await asyncio.sleep(5)
        async def main():
            await asyncio.gather(counts('a'), counts('b'))
            asyncio.create_task(begun())
        asyncio.run(main())
    """,
    "no time for a start": """
        async def starts():
            print('started')
        async def main():
            try:
                await asyncio.wait_for(starts(), 0)
            except TimeoutError:
                print('late')
            coroutine = starts()
            coroutine.close()
        asyncio.run(main())
    """,
    "a group with an error cancels its other tasks": """
        async def slow():
            try:
                await asyncio.sleep(5)
            except asyncio.CancelledError:
                print('cancelled')
                raise
        async def fails():
            await asyncio.sleep(0.01)
            raise KeyError('x')
        async def main():
            async with asyncio.TaskGroup() as group:
                task = group.create_task(slow())
                group.create_task(fails())
            print('never')
        try:
            asyncio.run(main())
        except Exception as error:
            print(type(error).__name__, error)
    """,
    "the body of a group is cancelled with it": """
        async def fails():
            raise KeyError('x')
        async def main():
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(fails())
                    await asyncio.sleep(5)
                    print('never')
            except Exception as error:
                print(type(error).__name__, error)
            await asyncio.sleep(0.01)
            print('after')
        asyncio.run(main())
    """,
    "a limit of time": """
        async def main():
            try:
                async with asyncio.timeout(0.01):
                    await asyncio.sleep(5)
            except TimeoutError:
                print('over')
            try:
                await asyncio.wait_for(asyncio.sleep(5), timeout=0.01)
            except asyncio.TimeoutError as error:
                print('over again', repr(error))
            print(await asyncio.wait_for(asyncio.sleep(0.01, 'in time'), timeout=5))
            async with asyncio.timeout(None):
                print('no limit')
        asyncio.run(main())
    """,
    "a task that is cancelled": """
        async def slow():
            try:
                await asyncio.sleep(5)
            finally:
                print('cleaned')
        async def main():
            task = asyncio.create_task(slow())
            await asyncio.sleep(0)
            print(task.cancel(), task.done())
            try:
                await task
            except asyncio.CancelledError:
                print('cancelled', task.cancelled(), task.cancel())
        asyncio.run(main())
    """,
    "except Exception does not catch a cancellation": """
        async def stubborn():
            try:
                await asyncio.sleep(5)
            except Exception:
                print('never')
        async def main():
            task = asyncio.create_task(stubborn())
            await asyncio.sleep(0)
            task.cancel()
            print(await asyncio.gather(task, return_exceptions=True))
        asyncio.run(main())
    """,
    "what is left is cancelled at the end": """
        async def left():
            try:
                await asyncio.sleep(5)
            finally:
                print('left')
        async def main():
            task = asyncio.create_task(left())
            await asyncio.sleep(0)
            print('end')
        asyncio.run(main())
    """,
    "a queue": """
        async def produce(queue):
            for n in range(4):
                await queue.put(n)
                print('put', n)
        async def consume(queue):
            for _ in range(4):
                n = await queue.get()
                print('got', n)
                queue.task_done()
        async def main():
            queue = asyncio.Queue(maxsize=4)
            await asyncio.gather(produce(queue), consume(queue))
            await queue.join()
            print(queue.empty(), queue.qsize())
            try:
                queue.get_nowait()
            except asyncio.QueueEmpty:
                print('empty')
        asyncio.run(main())
    """,
    "a semaphore": """
        inside = []
        async def work(n, gate):
            async with gate:
                inside.append(n)
                print(n, len(inside))
                await asyncio.sleep(0.01)
                inside.remove(n)
        async def main():
            gate = asyncio.Semaphore(2)
            await asyncio.gather(*[work(n, gate) for n in range(5)])
        asyncio.run(main())
    """,
    "a lock": """
        async def work(n, lock):
            async with lock:
                print('in', n)
                await asyncio.sleep(0.001)
                print('out', n)
        async def main():
            lock = asyncio.Lock()
            await asyncio.gather(*[work(n, lock) for n in range(3)])
            try:
                lock.release()
            except RuntimeError as error:
                print(error)
        asyncio.run(main())
    """,
    "an event": """
        async def waits(n, event):
            await event.wait()
            print('woken', n)
        async def main():
            event = asyncio.Event()
            tasks = [asyncio.create_task(waits(n, event)) for n in range(2)]
            await asyncio.sleep(0.01)
            print(event.is_set())
            event.set()
            await asyncio.gather(*tasks)
        asyncio.run(main())
    """,
    "in the order in which they end": """
        async def work(n):
            await asyncio.sleep(n / 50)
            return n
        async def main():
            for each in asyncio.as_completed([work(2), work(0), work(1)]):
                print(await each)
            done, pending = await asyncio.wait([asyncio.create_task(work(n)) for n in (0, 5)], return_when='FIRST_COMPLETED')
            print([task.result() for task in done], len(pending))
            done, pending = await asyncio.wait([asyncio.create_task(work(5))], timeout=0.01)
            print(len(done), len(pending))
        asyncio.run(main())
    """,
    "errors of the use": """
        async def work():
            return 1
        async def main():
            task = asyncio.create_task(asyncio.sleep(0.01))
            try:
                task.result()
            except asyncio.InvalidStateError as error:
                print(error)
            await task
            print(task.result(), task.exception())
            made = work()
            print(await made)
            try:
                await made
            except RuntimeError as error:
                print(error)
        asyncio.run(main())
        try:
            asyncio.Semaphore(-1)
        except ValueError as error:
            print(error)
    """,
    "loops, and tasks by name": """
        async def twice(n):
            await asyncio.sleep(0.001)
            return n * 2
        async def main():
            loop = asyncio.get_running_loop()
            began = loop.time()
            task, other = asyncio.create_task(twice(1), name='one'), loop.create_task(twice(2))
            print(task.get_name(), other.get_name().startswith('Task-'), len(asyncio.all_tasks()))
            task.set_name('first')
            print(await task, await other, task.get_name(), isinstance(task, asyncio.Task))
            print(await loop.run_in_executor(None, pow, 2, 5), 0.001 <= loop.time() - began < 1)
            future = loop.create_future()
            task.add_done_callback(lambda done: future.set_result(done.result()))
            print(await future, await asyncio.shield(twice(3)), asyncio.iscoroutinefunction(twice))
            try:
                future.set_result(1)
            except asyncio.InvalidStateError as error:
                print(error)
            async with asyncio.timeout_at(loop.time() + 5) as limit:
                print(limit.expired())
            return 'end'
        try:
            asyncio.get_running_loop()
        except RuntimeError as error:
            print(error)
        loop = asyncio.new_event_loop()
        print(loop.run_until_complete(main()), loop.is_running())
        loop.close()
        with asyncio.Runner() as runner:
            print(runner.run(twice(4)), loop.is_closed())
    """,
    "a stack of contexts of both kinds": """
        import contextlib
        @contextlib.asynccontextmanager
        async def opened(name):
            print('open', name)
            try:
                yield name
            finally:
                print('close', name)
        async def hide(kind, error, trace):
            print(kind.__name__, error)
            return True
        async def main():
            async with contextlib.AsyncExitStack() as stack:
                print([await stack.enter_async_context(opened(name)) for name in 'ab'])
                stack.enter_context(contextlib.suppress(KeyError))
                stack.push_async_callback(asyncio.sleep, 0)
                stack.callback(print, 'called')
                stack.push_async_exit(hide)
                raise ValueError('no')
            kept = contextlib.AsyncExitStack()
            await kept.enter_async_context(opened('c'))
            await kept.pop_all().aclose()
        asyncio.run(main())
    """,
    "an awaitable of one's own": """
        class Later:
            def __await__(self):
                yield from asyncio.sleep(0.001).__await__()
                return 'later'
        async def main():
            print(await Later(), await asyncio.gather(Later(), Later()))
        asyncio.run(main())
    """,
    "async for and async comprehensions": """
        async def twice(n):
            return n * 2
        async def main():
            print([await twice(n) for n in range(3)], {n: await twice(n) for n in range(2)})
            print([n async for n in (await twice(m) for m in range(3))])
            async for n in (await twice(m) for m in range(2)):
                print(n)
        asyncio.run(main())
    """,
    "a pool": """
        def twice(n):
            if n == 3:
                raise ValueError('three')
            return n * 2
        pool = concurrent.futures.ThreadPoolExecutor(max_workers=2)
        print(list(pool.map(twice, [1, 2])))
        futures = [pool.submit(twice, n) for n in (3, 4)]
        print(futures[0].exception(), futures[1].result(), futures[1].done())
        ended = concurrent.futures.wait(futures)
        print(len(ended.done), ended.not_done, type(ended).__name__)
        try:
            futures[0].result()
        except ValueError as error:
            print(error)
        print(sorted(f.result() for f in concurrent.futures.as_completed([pool.submit(twice, n) for n in (5, 6)])))
        pool.shutdown()
        try:
            pool.submit(twice, 1)
        except RuntimeError as error:
            print(error)
    """,
}


def in_python(program: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program, {"asyncio": asyncio, "concurrent": concurrent})
    return printed.getvalue()


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_prints_what_python_prints(name):
    program = textwrap.dedent(PROGRAMS[name])
    plan = (
        f"import asyncio, concurrent.futures\n\ndef solution(agent, start_from=1):\n{textwrap.indent(program, '    ')}"
    )
    outcome = Sandbox(Limits()).run(plan, SampleHome(lambda action: None), answer)
    assert isinstance(outcome, Finished), outcome
    assert outcome.output == in_python(program)
