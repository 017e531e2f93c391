"""Ends work in other threads: episodes as by Ctrl-C, and calls at their deadline. Runs event loops in threads."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import copy_context
from queue import SimpleQueue
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    import asyncio


_T = TypeVar("_T")
_News = TypeVar("_News")

POLL_SECONDS: Final = 0.2
"""Maximum time in seconds until a waiting thread notices that it is cancelled or interrupted."""


class Cancellation:
    """Cancels the work of all threads in which it is in force.

    Such a thread gets one KeyboardInterrupt: while it waits for a model, an asynchronous tool or a plan's process, or
    after the next event of its trace. So the trace ends as after Ctrl-C, and the episode can be resumed. A synchronous
    function of the user runs to its end first, unless it has a limit of time.
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
        in_force_here.cancellation = self
        try:
            yield
        finally:
            in_force_here.cancellation = before


class _InForce(threading.local):
    cancellation: Cancellation | None = None  # a class attribute: a missing one is slow to look up


in_force_here = _InForce()
"""What may cancel this thread's work. Its attribute is None if nothing can, or if it has interrupted the thread: a look
at it spares the usual case a call of ``raise_if_cancelled``.
"""


def current_cancellation() -> Cancellation | None:
    """The cancellation in force in this thread; None if there is none, or if it has interrupted the thread already."""
    return in_force_here.cancellation


def raise_if_cancelled() -> None:
    """Interrupt this thread if its work was cancelled: once, so that the trace can still get its end.

    Raises: KeyboardInterrupt: the work was cancelled.
    """
    cancellation = in_force_here.cancellation
    if cancellation is not None and cancellation.is_cancelled:
        in_force_here.cancellation = None
        raise KeyboardInterrupt


class DeadlinePassed(Exception):
    """A call has run past its deadline. It may run on."""


def _wait(done: threading.Lock | threading.Semaphore, seconds: float | None) -> None:
    """Wait until the lock is released, which wakes sooner than a future.

    It wakes now and then, also because a signal that comes just before a wait does not end it: Python looks for one
    only afterwards.

    Raises: DeadlinePassed: ``seconds`` are over (None: no limit). KeyboardInterrupt: this thread was interrupted, or
    its work was cancelled.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        left = POLL_SECONDS if deadline is None else max(deadline - time.monotonic(), 0.0)
        if done.acquire(timeout=min(left, POLL_SECONDS)):
            return
        raise_if_cancelled()
        if deadline is not None and time.monotonic() >= deadline:
            raise DeadlinePassed


class CallThreads:
    """Threads for synchronous calls that have a deadline, started on first use.

    Calls that follow one another run in the same thread, which can keep what belongs to one thread: a connection to a
    database, a browser. A call that passes its deadline keeps its thread, which the process does not wait for.
    """

    def __init__(self) -> None:
        self._idle: list[_CallThread] = []
        self._is_closed = False

    def start(self, work: Callable[[], _T], tell: Callable[[_T | None, BaseException | None], None]) -> Cancellation:
        """Do the work in a thread, with a copy of the caller's context variables, and do not wait for it.

        ``tell`` gets what it returns or raises, in that thread. The result cancels the work while it awaits something.
        """
        thread = self._idle.pop() if self._idle else _CallThread()
        cancellation, context = Cancellation(), copy_context()

        def do() -> None:
            value, error = None, None
            try:
                with cancellation.in_force():
                    value = context.run(work)
            except BaseException as raised:
                error = raised
            if self._is_closed:
                thread.end()
            else:
                self._idle.append(thread)
            tell(value, error)

        self._is_closed = False
        thread.put(do)
        return cancellation

    def run(self, work: Callable[[], _T], seconds: float) -> _T:
        """Do the work in a thread, with a copy of the caller's context variables, and return or raise what it does.

        Raises: DeadlinePassed: ``seconds`` are over; the work may go on. KeyboardInterrupt: as ``LoopThread.run``.
        """
        try:
            thread = self._idle.pop()
        except IndexError:
            thread = _CallThread()
        value, error = thread.run(work, seconds)
        self._idle.append(thread)
        if error is not None:
            raise error
        return value  # type: ignore[return-value]  # without an error there is a value

    def close(self) -> None:
        """End the threads that have nothing to do, and the others when they have ended. Safe to call twice."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().end()


class _CallThread:
    """A thread that does one piece of work after the other."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        threading.Thread(target=self._serve, name="codeplan-call", daemon=True).start()

    def run(self, work: Callable[[], _T], seconds: float) -> tuple[_T | None, BaseException | None]:
        outcomes: list[tuple[_T | None, BaseException | None]] = []
        done, context = threading.Lock(), copy_context()
        done.acquire()

        def do() -> None:
            try:
                outcomes.append((context.run(work), None))
            except BaseException as error:
                outcomes.append((None, error))
            done.release()

        self._work.put(do)
        try:
            _wait(done, seconds)
        except BaseException:
            self.end()  # once the work is done
            raise
        return outcomes[0]

    def put(self, do: Callable[[], None]) -> None:
        self._work.put(do)

    def end(self) -> None:
        self._work.put(None)

    def _serve(self) -> None:
        while (do := self._work.get()) is not None:
            do()


MAX_CLOSING_SECONDS: Final = 3
"""How long the end of a loop waits for tasks that its calls left running, in seconds."""

_RESPONSE_SECONDS: Final = 0.5
"""How long the end of a loop waits for one that a call blocks, in seconds."""


class LoopThread:
    """An event loop in a thread of its own, started on first use, in which other threads run calls and wait for them.

    Tasks that a call starts in it continue between calls. (The portal of anyio does not fit: its end waits for tasks
    that ignore their cancellation, and for threads that a call started.)
    """

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._calls: set[asyncio.Task[Any]] = set()

    @property
    def is_current(self) -> bool:
        """Whether this is the loop's own thread, in which ``run`` would wait for ever."""
        return threading.current_thread() is self._thread

    def run(self, awaitable: Awaitable[_T], seconds: float | None = None) -> _T:
        """Wait for the result, or raise the exception. The caller's context variables hold in the call.

        Raises: DeadlinePassed: ``seconds`` are over (None: no limit); the call is cancelled. KeyboardInterrupt: this
        thread was interrupted or its work cancelled; so is the call. concurrent.futures.CancelledError: the call was
        cancelled in another way.
        """
        done = threading.Lock()
        done.acquire()
        return self._run(awaitable, done, lambda: _wait(done, seconds))

    def run_telling(
        self, begin: Callable[[Callable[[_News], None]], Awaitable[_T]], listen: Callable[[_News], None]
    ) -> _T:
        """As ``run``, of a call that tells something while it runs: ``begin`` makes it from the function that tells.

        ``listen`` is called in this thread while it waits. What it raises cancels the call, and is raised.
        """
        news: deque[_News] = deque()
        woken = threading.Semaphore(0)  # released for each piece of news, and at the end

        def tell(piece: _News) -> None:
            news.append(piece)
            woken.release()

        def attend() -> None:
            _wait(woken, None)
            while news:
                listen(news.popleft())
                _wait(woken, None)

        return self._run(begin(tell), woken, attend)

    def _run(
        self, awaitable: Awaitable[_T], done: threading.Lock | threading.Semaphore, wait: Callable[[], None]
    ) -> _T:
        """Run the call, which releases ``done`` at its end, for which ``wait`` waits."""
        call: Coroutine[Any, Any, _T] = awaitable if isinstance(awaitable, CoroutineType) else _awaited(awaitable)
        loop = self._running_loop()
        tasks: list[asyncio.Task[_T]] = []

        def begin() -> None:
            tasks.append(loop.create_task(call))
            self._calls.add(tasks[0])
            tasks[0].add_done_callback(end)

        def end(task: asyncio.Task[_T]) -> None:
            self._calls.discard(task)
            done.release()

        loop.call_soon_threadsafe(begin)  # before anything that cancels
        try:
            wait()
        except BaseException:
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())
            raise
        if tasks[0].cancelled():
            raise CancelledError
        return tasks[0].result()

    def cancel_calls(self) -> None:
        """Cancel the calls of all threads. It waits for nothing, so a signal's handler may call it."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(lambda: [call.cancel() for call in self._calls])

    def close(self) -> None:
        """Cancel what still runs, and end the thread. Safe to call twice.

        A loop that a call blocks ends later: the process does not wait for it.
        """
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is None or thread is None:
            return
        import asyncio

        responds = threading.Event()
        loop.call_soon_threadsafe(responds.set)
        cancelled = asyncio.run_coroutine_threadsafe(_cancel_others(), loop)
        cancelled.add_done_callback(lambda _: loop.call_soon_threadsafe(loop.stop))
        if responds.wait(_RESPONSE_SECONDS):
            thread.join()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        import asyncio

        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="codeplan-loop", daemon=True)
                self._thread.start()
            return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped, and close it. A task that raises SystemExit ends the loop's run, but other
    tasks still wait for their answers.
    """
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            continue
        loop.close()
        return


async def _awaited(awaitable: Awaitable[_T]) -> _T:
    return await awaitable


async def _cancel_others() -> None:
    import asyncio

    loop = asyncio.get_running_loop()
    others = [task for task in asyncio.all_tasks(loop) if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    if others:
        done, _ = await asyncio.wait(others, timeout=MAX_CLOSING_SECONDS)  # a task may ignore that it is cancelled
        await asyncio.gather(*done, return_exceptions=True)
    await loop.shutdown_asyncgens()
