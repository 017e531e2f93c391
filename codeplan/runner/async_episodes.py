"""Episodes and benches for a running event loop: each in a thread of its own, which the loop awaits.

What an episode needs is imported in its thread: that takes a part of a second, which the first one's loop would lose.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeVar

from codeplan.cancellation import Cancellation

if TYPE_CHECKING:
    from codeplan.episode.method import Method
    from codeplan.llm.callable_model import ModelFunction
    from codeplan.protocols import LLM, Environment
    from codeplan.types import Result, Task

_T = TypeVar("_T")


async def arun(
    env: str | Environment,
    task: Task | str | None = None,
    method: str | Method = "adaplanner",
    model: str | LLM | ModelFunction = "scripted",
    **options: Any,
) -> Result:
    """``codeplan.run`` for a running event loop, such as a notebook's: ``result = await codeplan.arun(…)``.

    Takes what ``run`` takes, and raises what it raises. ``on_event`` and synchronous functions of yours are called in
    the episode's thread. If the awaiting task is cancelled, the episode is interrupted as by Ctrl-C: its processes end,
    its trace stays and can be resumed; then CancelledError is raised. A synchronous function that runs at that moment
    returns first.
    """

    def work() -> Result:
        from codeplan.runner.episodes import run

        return run(env, task, method, model, **options)

    return await in_thread(work)


async def ado(goal: str, *, model: str | LLM | ModelFunction, **options: Any) -> Result:
    """``codeplan.do`` for a running event loop; cancelled as ``codeplan.arun``.

    Asynchronous tools run in an event loop of the episode's own, not in the one that awaits this.
    """

    def work() -> Result:
        from codeplan.runner.tools import do

        return do(goal, model=model, **options)

    return await in_thread(work)


async def in_thread(work: Callable[[], _T]) -> _T:
    """Do the work in a thread and await it. If the awaiting task is cancelled, cancel the work as well and await its
    end.
    """
    loop = asyncio.get_running_loop()
    ended, cancellation, context = loop.create_future(), Cancellation(), contextvars.copy_context()
    outcome: list[tuple[_T | None, BaseException | None]] = []

    def work_in_thread() -> None:
        with cancellation.in_force():
            try:
                outcome.append((context.run(work), None))
            except BaseException as error:
                outcome.append((None, error))
        _tell(loop, ended)

    _starter.start(work_in_thread)
    try:
        await asyncio.shield(ended)
    except asyncio.CancelledError:
        cancellation.cancel()
        await _end_of(ended)
        raise
    value, error = outcome[0]
    if error is not None:
        raise error
    return value  # type: ignore[return-value]  # without an error there is a value


START_SECONDS: Final = 0.002
"""Minimum time between two starts of episodes, in seconds."""

MAX_QUEUED: Final = 2
"""How many plans may wait for their check when one more episode starts."""

_POLL_SECONDS: Final = 0.005


class _Starter:
    """Starts threads in a thread of its own: a start waits until the thread runs, and an event loop must not wait.

    Episodes that wait for a model all run at once. As long as plans wait for their check, no further episode starts: it
    would wait there as well, and hundreds of them contend with the event loop for Python's lock, and lengthen each
    collection of garbage, during which the loop stands still.
    """

    def __init__(self) -> None:
        self._wanted: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock, self._process = threading.Lock(), 0

    def start(self, work: Callable[[], None]) -> None:
        """Have the work done in a thread of its own, soon."""
        with self._lock:
            if self._process != os.getpid():  # the first, or in a fork, which has none of its parent's threads
                self._process, self._wanted = os.getpid(), SimpleQueue()
                threading.Thread(target=self._serve, args=(self._wanted,), name="codeplan-starter", daemon=True).start()
        self._wanted.put(work)

    def _serve(self, wanted: SimpleQueue[Callable[[], None]]) -> None:
        from codeplan.sandbox.host.plan_texts import computing_slots

        while True:
            threading.Thread(target=wanted.get(), name="codeplan-episode", daemon=True).start()
            time.sleep(START_SECONDS)
            while computing_slots.waiting > MAX_QUEUED:
                time.sleep(_POLL_SECONDS)


_starter: Final = _Starter()


def _tell(loop: asyncio.AbstractEventLoop, ended: asyncio.Future[None]) -> None:
    def tell() -> None:
        if not ended.done():
            ended.set_result(None)

    try:
        loop.call_soon_threadsafe(tell)
    except RuntimeError:  # the loop was closed meanwhile
        return


async def _end_of(ended: asyncio.Future[None]) -> None:
    """Await the end, even if the task is cancelled several times meanwhile."""
    while not ended.done():
        try:
            await asyncio.shield(ended)
        except asyncio.CancelledError:
            continue
