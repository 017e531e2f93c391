"""One event loop in one thread runs the requests of all episodes of the process.

Episodes are synchronous and block on it. Unlike a blocking socket, it enforces a deadline for a whole call, and Ctrl-C
cancels the calls of every thread at once.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from codeplan.cancellation import run_until_stopped, wait_for_result

T = TypeVar("T")


def run_and_wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine in the background loop and return its value, or raise its exception.

    Raises: KeyboardInterrupt: the user interrupted; the coroutine is cancelled.
    """
    if _interrupted.is_set():
        coroutine.close()
        raise KeyboardInterrupt
    future = asyncio.run_coroutine_threadsafe(_run_tracked(coroutine), _background_loop())
    try:
        return wait_for_result(future)
    except concurrent.futures.CancelledError:
        raise KeyboardInterrupt from None
    except BaseException:
        future.cancel()
        raise


@contextmanager
def cancel_calls_on_interrupt() -> Iterator[None]:
    """Inside this context, Ctrl-C cancels the running and later calls of all threads.

    It is for the main thread while other threads run episodes; in any other thread it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: FrameType | None) -> None:
        _interrupted.set()
        if _running:
            _running.call_soon_threadsafe(_cancel_all)
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _interrupted.clear()


_interrupted = threading.Event()
_lock = threading.Lock()
_running: asyncio.AbstractEventLoop | None = None
_tasks: set[asyncio.Task[Any]] = set()


def _background_loop() -> asyncio.AbstractEventLoop:
    global _running
    with _lock:
        if _running is None:
            _running = asyncio.new_event_loop()
            threading.Thread(target=run_until_stopped, args=(_running,), name="codeplan-llm", daemon=True).start()
        return _running


async def _run_tracked(coroutine: Coroutine[Any, Any, T]) -> T:
    task = asyncio.current_task()
    assert task is not None, "a coroutine runs in a task"
    _tasks.add(task)
    try:
        return await coroutine
    finally:
        _tasks.discard(task)


def _cancel_all() -> None:
    for task in list(_tasks):
        task.cancel()


def _reset_after_fork() -> None:
    """The loop's thread does not survive a fork; the child starts its own."""
    global _running, _lock
    _running, _lock = None, threading.Lock()
    _tasks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
