"""An event loop in a thread of its own, for asynchronous tools. The episode waits for each of their answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Coroutine
from concurrent.futures import CancelledError
from types import CoroutineType
from typing import Any, TypeVar

from codeplan.cancellation import run_until_stopped, wait_for_lock

_T = TypeVar("_T")


MAX_CLOSING_SECONDS = 3
"""How long the end of an episode waits for tasks that asynchronous tools left running, in seconds."""


class LoopThread:
    """One loop for one episode, started on first use. Tasks that a tool starts in it continue between calls."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def is_current(self) -> bool:
        """Whether this is the loop's own thread, in which ``run`` would wait for ever."""
        return threading.current_thread() is self._thread

    def run(self, awaitable: Awaitable[_T]) -> _T:
        """Wait for the result, or raise the exception. An interrupt of the waiting thread cancels the call.

        The caller's context variables hold in the call.
        """
        call: Coroutine[Any, Any, _T] = awaitable if isinstance(awaitable, CoroutineType) else _awaited(awaitable)
        loop = self._running_loop()
        done, tasks = threading.Lock(), list[asyncio.Task[_T]]()  # a lock wakes sooner than a future
        done.acquire()

        def begin() -> None:
            tasks.append(loop.create_task(call))
            tasks[0].add_done_callback(lambda _: done.release())

        loop.call_soon_threadsafe(begin)
        try:
            wait_for_lock(done)
        except BaseException:
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())  # begin has run by then
            raise
        if tasks[0].cancelled():
            raise CancelledError
        return tasks[0].result()

    def close(self) -> None:
        """Cancel what still runs, and end the thread. Safe to call twice."""
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_cancel_others(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=run_until_stopped, args=(self._loop,), name="codeplan-tools", daemon=True
            )
            self._thread.start()
        return self._loop


async def _awaited(awaitable: Awaitable[_T]) -> _T:
    return await awaitable


async def _cancel_others() -> None:
    loop = asyncio.get_running_loop()
    others = [task for task in asyncio.all_tasks(loop) if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    if others:
        done, _ = await asyncio.wait(others, timeout=MAX_CLOSING_SECONDS)  # a task may ignore that it is cancelled
        await asyncio.gather(*done, return_exceptions=True)
    await loop.shutdown_asyncgens()
