"""Where requests run: one event loop in one thread, for all episodes of the process.

Episodes are synchronous and wait for their answers here. That gives what a blocking socket cannot: a deadline for the
whole of a call, and an end at once for the calls of every thread when a person interrupts.
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

T = TypeVar("T")


def run_and_wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine in the background and return what it returns, or raise what it raises.

    Raises KeyboardInterrupt where the person at the keyboard ends it; the work is cancelled then.
    """
    if _interrupted.is_set():
        coroutine.close()
        raise KeyboardInterrupt
    future = asyncio.run_coroutine_threadsafe(_run_tracked(coroutine), _background_loop())
    try:
        return future.result()
    except concurrent.futures.CancelledError:
        raise KeyboardInterrupt from None
    except BaseException:
        future.cancel()
        raise


@contextmanager
def cancel_calls_on_interrupt() -> Iterator[None]:
    """Inside, an interrupt (Ctrl-C) ends the calls of all threads at once, and those that they begin after it.

    For the main thread, while others run episodes; anywhere else it does nothing.
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
            threading.Thread(target=_running.run_forever, name="codeplan-llm", daemon=True).start()
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
    """After a fork the thread is the parent's alone; the child begins its own."""
    global _running, _lock
    _running, _lock = None, threading.Lock()
    _tasks.clear()


os.register_at_fork(after_in_child=_reset_after_fork)
