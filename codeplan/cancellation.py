"""Ends episodes from another thread, just as Ctrl-C ends those of the main thread, and waits for other threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    import asyncio


_T = TypeVar("_T")

POLL_SECONDS: Final = 0.2
"""Maximum time in seconds until a waiting thread notices that it is cancelled."""


class Cancellation:
    """Cancels the work of all threads in which it is in force.

    Such a thread gets one KeyboardInterrupt: while it waits for a model, an asynchronous tool or a plan's process, or
    after the next event of its trace. So the trace ends as after Ctrl-C, and the episode can be resumed. A synchronous
    function of the user runs to its end first.
    """

    def __init__(self) -> None:
        self._cancelled = threading.Event()

    @property
    def is_cancelled(self) -> bool:
        """Whether ``cancel`` was called."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Cancel the work. Safe to call twice, and from any thread."""
        self._cancelled.set()

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Inside this context, the work of this thread can be cancelled."""
        before = current_cancellation()
        _in_force.cancellation = self
        try:
            yield
        finally:
            _in_force.cancellation = before


class _InForce(threading.local):
    cancellation: Cancellation | None = None  # a class attribute: a missing one is slow to look up


_in_force = _InForce()


def current_cancellation() -> Cancellation | None:
    """The cancellation in force in this thread; None if there is none, or if it has interrupted the thread already."""
    return _in_force.cancellation


def raise_if_cancelled() -> None:
    """Interrupt this thread if its work was cancelled: once, so that the trace can still get its end.

    Raises: KeyboardInterrupt: the work was cancelled.
    """
    cancellation = current_cancellation()
    if cancellation is not None and cancellation.is_cancelled:
        _in_force.cancellation = None
        raise KeyboardInterrupt


def wait_for_result(future: Future[_T]) -> _T:
    """The future's result. Raises: KeyboardInterrupt: this thread's work was cancelled; the future is not."""
    if current_cancellation() is not None:
        while not wait([future], POLL_SECONDS).done:
            raise_if_cancelled()
    return future.result()


def wait_for_lock(lock: threading.Lock) -> None:
    """Acquire the lock. Raises: KeyboardInterrupt: this thread's work was cancelled."""
    while not lock.acquire(timeout=-1 if current_cancellation() is None else POLL_SECONDS):
        raise_if_cancelled()


def run_until_stopped(loop: asyncio.AbstractEventLoop) -> None:
    """Run the event loop in this thread until it is stopped. A task that raises SystemExit ends the loop's run, but
    other tasks still wait for their answers.
    """
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            continue
        return
