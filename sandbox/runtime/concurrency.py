"""Calls at the same time: a plan's coroutines and tasks, and the facades of ``asyncio`` and ``concurrent.futures``.

The scheduler runs one coroutine after the other, in the order in which they became ready. It has no threads and no
event loop of Python's: only the host's answers and the plan's own sleeps wake anything, and both have their order from
the host, so that a replay of the answers repeats the order of everything. Nothing outlives its block: what is left at
the end of ``asyncio.run`` or of a step is cancelled, and the calls that are being made are waited for.

A plan cannot hide its end here: PlanTermination and limits pass through every task at once.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import count
from types import CoroutineType, FunctionType
from typing import Any, Final

from codeplan.sandbox.runtime.attributes import ALLOWED_ATTRIBUTES, ModuleFacade
from codeplan.sandbox.runtime.guards import CurrentRun, PlanStopper, set_name
from codeplan.sandbox.runtime.names import ALLOWED_MODULES, split_names
from codeplan.sandbox.runtime.termination import PlanTermination, find_limit
from codeplan.untrusted.texts import with_article

MAX_OPEN_CALLS: Final = 1_000
"""A plan that begins more calls waits for an answer first."""

SHORTEST_WAIT: Final = 0.01
"""The shortest wait beside open calls, in seconds: a plan that polls must not fill the trace."""

LONGEST_WAIT: Final = 1e6
"""The longest wait, in seconds, which is beyond every limit of a run."""

DEADLOCK: Final = "every task waits for another one, and no call is open that could wake it"

Begin = Callable[..., "Future"]
"""Begins a call of one of the agent's methods."""


class CancelledError(BaseException):
    """The task was cancelled. As in Python, ``except Exception`` does not catch it."""


class InvalidStateError(Exception):
    """The operation does not fit the state of a future."""


class QueueEmpty(Exception):  # noqa: N818  # Python's name
    """``get_nowait`` found nothing."""


class QueueFull(Exception):  # noqa: N818  # Python's name
    """``put_nowait`` found no room."""


for _kind in (CancelledError, InvalidStateError, QueueEmpty, QueueFull):
    _kind.__module__ = "asyncio"


class Future:
    """A value that comes later, for coroutines that await it. ``number`` is that of an open call, 0 for anything else.

    Its hash is its age, so that a set of futures has the same order in every run.
    """

    def __init__(self, scheduler: Scheduler, number: int = 0) -> None:
        self._scheduler, self._number = scheduler, number
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._wakes: list[Callable[[], object]] = []
        self._age = next(scheduler.ages)

    def __hash__(self) -> int:
        return self._age

    def __repr__(self) -> str:
        state = "pending" if not self._done else "cancelled" if self.cancelled() else "finished"
        return f"<{type(self).__name__} {state}>"

    def __await__(self) -> Generator[Future, None, Any]:
        if not self._done:
            yield self
        return self.result()

    def done(self) -> bool:
        """Whether it has its value or its error."""
        return self._done

    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return isinstance(self._error, CancelledError)

    def result(self) -> Any:
        """The value. Raises: the error; InvalidStateError: it is not done."""
        if not self._done:
            raise InvalidStateError("Result is not set.")
        if self._error is not None:
            raise self._error
        return self._value

    def exception(self) -> BaseException | None:
        """The error, or None. Raises: InvalidStateError: it is not done; CancelledError."""
        if not self._done:
            raise InvalidStateError("Exception is not set.")
        if isinstance(self._error, CancelledError):
            raise self._error
        return self._error

    def cancel(self, msg: object = None) -> bool:
        """Cancel it; False if it is done. A call that is being made goes on, and its answer is dropped."""
        if self._done:
            return False
        if self._number:
            self._scheduler.drop_call(self._number)
        self._finish(None, CancelledError())
        return True

    def _finish(self, value: object, error: BaseException | None = None) -> None:
        if self._done:
            return
        self._done, self._value, self._error = True, value, error
        wakes, self._wakes = self._wakes, []
        for wake in wakes:
            wake()

    def _when_done(self, wake: Callable[[], object]) -> None:
        if self._done:
            wake()
        else:
            self._wakes.append(wake)


class Task(Future):
    """A coroutine of the plan that runs beside others."""

    def __init__(self, scheduler: Scheduler, coroutine: Any) -> None:
        super().__init__(scheduler)
        self._coroutine = coroutine
        self._awaited: Future | None = None
        self._thrown: BaseException | None = None

    def cancel(self, msg: object = None) -> bool:
        """Throw CancelledError into the coroutine, where it awaits."""
        if self._done:
            return False
        if self._awaited is None or not self._awaited.cancel():
            self._thrown = CancelledError()
        return True

    def throw(self, error: BaseException) -> None:
        """Throw an error into the coroutine, whatever it awaits."""
        self._awaited, self._thrown = None, error
        self._scheduler.ready.append(self)

    def _await(self, future: Future) -> None:
        def wake() -> None:
            if self._awaited is future:
                self._awaited = None
                self._scheduler.ready.append(self)

        self._awaited = future
        future._when_done(wake)

    def _step(self) -> None:
        """Run the coroutine to its next await. Raises: PlanTermination."""
        thrown, self._thrown = self._thrown, None
        try:
            awaited = self._coroutine.send(None) if thrown is None else self._coroutine.throw(thrown)
        except StopIteration as end:
            self._finish(end.value)
        except (Exception, CancelledError) as error:
            self._scheduler.require_no_limit(error)
            self._finish(None, error)
        else:
            if isinstance(awaited, Future):
                self._await(awaited)
            else:
                self.throw(RuntimeError("Task got bad yield: a plan awaits coroutines, tasks and calls"))


class Gathering(Future):
    """The results of several futures, in their order; or the first error, after all have ended."""

    def __init__(self, scheduler: Scheduler, parts: list[Future], *, errors_are_values: bool = False) -> None:
        super().__init__(scheduler)
        self._parts, self._errors_are_values = parts, errors_are_values
        self._left = len(parts)
        self._first: BaseException | None = None
        for part in parts:
            part._when_done(lambda part=part: self._take(part))  # type: ignore[misc]
        if not parts:
            self._finish([])

    def cancel(self, msg: object = None) -> bool:
        """Cancel all parts that are not done."""
        if self._done:
            return False
        self._errors_are_values, self._first = False, CancelledError()
        return any([part.cancel() for part in self._parts])

    def _take(self, part: Future) -> None:
        self._left -= 1
        self._first = self._first or part._error
        if self._left:
            return
        if self._first is not None and not self._errors_are_values:
            self._finish(None, self._first)
        else:
            self._finish([_value_or_error(part) for part in self._parts])


def _value_or_error(part: Future) -> Any:
    if part._error is None:
        return part._value
    return CancelledError("") if part.cancelled() else part._error  # as Python makes it here


class _Ready:
    """A value that is there already, for ``await``: that of a call that was waited for."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __await__(self) -> Generator[Any, None, Any]:
        yield from ()
        return self._value


def as_awaitable(value: Any) -> Any:
    """What ``await`` gets in place of ``value``: a value that is there already is given as it is."""
    return value if hasattr(type(value), "__await__") else _Ready(value)


class Scheduler:
    """Runs the coroutines of one run after the other, and begins the agent's calls. It serves run after run.

    ``begins`` finds, for a method of the agent as plans have it, what begins a call of it.
    """

    def __init__(self, run: CurrentRun, stopper: PlanStopper) -> None:
        self._run, self._stopper = run, stopper
        self.begins: dict[object, Begin] = {}
        self.reset()

    def reset(self) -> None:
        """Forget the run before."""
        self.begins.clear()
        self.ages = count(1)
        self.ready: deque[Task] = deque()
        self.open: dict[int, Future | None] = {}  # None: nobody waits for the answer
        self.current: Task | None = None
        self._tasks: dict[Task, None] = {}
        self._timers: list[tuple[float, int, Future]] = []
        self._now = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether no call is open and no task is left."""
        return not self.open and not self._tasks

    # ------------------------------------------------------------------ calls

    def begin_call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Future:
        """Begin a call of the agent. The arguments are plain data."""
        while len(self.open) >= MAX_OPEN_CALLS:
            self._deliver(None)
        number = self._run.host.begin(method, args, kwargs)
        future = Future(self, number)
        self.open[number] = future
        return future

    def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """Make a call beside open ones, and wait for it. No coroutine runs meanwhile."""
        future = self.begin_call(method, args, kwargs)
        self.wait_for_calls([future])
        return future.result()

    def drop_call(self, number: int) -> None:
        """Nobody waits for this call any more: it is not made if it has not begun, otherwise its answer is dropped."""
        if self._run.host.cancel(number):
            self.open.pop(number, None)
        else:
            self.open[number] = None

    def begin_in_pool(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> PoolFuture:
        """Begin a call of a method of the agent; call any other function at once. Errors are those of the future."""
        future = PoolFuture(self)
        begin = self.find_begin(function)
        try:
            value = begin(*args, **kwargs) if begin else function(*args, **kwargs)
        except (Exception, CancelledError) as error:
            self.require_no_limit(error)
            future._finish(None, error)
            return future
        if begin is None:
            future._finish(value)
        else:
            future._number, self.open[value._number] = value._number, future
        return future

    def finish_all(self, parts: list[Any]) -> list[Any]:
        """The values of futures, coroutines and plain values, in order. Raises: the first error, after all ended."""
        whole = Gathering(self, [self.future_of(part) for part in parts])
        if any(type(part) is not Future for part in parts):
            self.run_until(whole)
        else:
            self.wait_for_calls([whole])
        return whole.result()  # type: ignore[no-any-return]

    def wait_for_calls(self, futures: Iterable[Future]) -> None:
        """Wait for the answers of calls. No coroutine runs meanwhile. Raises: RuntimeError: none is open."""
        for future in futures:
            while not future._done:
                if not self.open:
                    raise RuntimeError(DEADLOCK)
                self._deliver(None)

    def wait_for_any(self, futures: list[Future], seconds: float | None = None) -> bool:
        """Wait until one of these is done; False: ``seconds`` have passed. No coroutine runs meanwhile."""
        until = None if seconds is None else self._now + _seconds(seconds)
        while not any(future._done for future in futures):
            if not self.open:
                raise RuntimeError(DEADLOCK)
            left = None if until is None else until - self._now
            if left is not None and left <= 0:
                return False
            self._deliver(None if left is None else max(left, SHORTEST_WAIT))
        return True

    def _deliver(self, seconds: float | None) -> None:
        """Wait for the next answer, for ``seconds`` at most, and give it to those that wait for it."""
        answer = self._run.host.wait(seconds)
        self._now += answer.seconds
        future = self.open.pop(answer.number, None)
        if future is not None:
            future._finish(answer.value, answer.error)

    # ------------------------------------------------------------------ tasks

    def future_of(self, value: Any) -> Future:
        """The future of anything that may stand in ``gather``: a coroutine becomes a task."""
        if isinstance(value, Future):
            return value
        if type(value) is CoroutineType:
            return self.start(value)
        if hasattr(type(value), "__await__"):
            return self.start(_await_it(value))
        if isinstance(value, list | tuple) and any(isinstance(v, Future | CoroutineType) for v in value):
            raise TypeError(f"{with_article(type(value).__name__)} of awaitables cannot be awaited; write *calls")
        future = Future(self)
        future._finish(value)
        return future

    def start(self, coroutine: Any) -> Task:
        """Run a coroutine as a task, from the next await on."""
        task = Task(self, coroutine)
        self._tasks[task] = None
        task._when_done(lambda: self._tasks.pop(task, None))
        self.ready.append(task)
        return task

    def timer(self, seconds: float) -> Future:
        """A future that is done after this many seconds."""
        future = Future(self)
        heapq.heappush(self._timers, (self._now + max(seconds, 0.0), future._age, future))
        return future

    def run_coroutine(self, coroutine: Any) -> Any:
        """Run a coroutine to its end, and everything that it has begun. Raises as it does."""
        first = next(self.ages)
        task = self.start(coroutine)
        self.run_until(task)
        self.end_tasks(first)
        return task.result()

    def run_until(self, future: Future) -> None:
        """Run the tasks that are ready until this is done. If nothing can wake a task, this one gets a RuntimeError."""
        while not future._done:
            if self.ready:
                self._run_step(self.ready.popleft())
            elif self.open or self._timers:
                self._await_event()
            elif isinstance(future, Task) and future is not self.current:
                future.throw(RuntimeError(DEADLOCK))
            else:
                raise RuntimeError(DEADLOCK)

    def end_tasks(self, first: int = 0) -> None:
        """Cancel the tasks that began after this number, and wait until all calls that are being made are answered."""
        for task in [task for task in self._tasks if task._age > first]:
            task.cancel()
            while not task._done:
                self.run_until(task)
        for number, future in list(self.open.items()):
            if future is not None and future._age > first and number in self.open:
                future.cancel()
        self.wait_for_dropped_calls()

    def wait_for_dropped_calls(self) -> None:
        """Wait until the calls that are being made, and for which nobody waits, are answered."""
        while None in self.open.values():
            self._deliver(None)

    def find_begin(self, function: object) -> Begin | None:
        """What begins a call of this method of the agent; None for anything else."""
        return self.begins.get(function) if type(function) is FunctionType else None

    def require_no_limit(self, error: BaseException) -> None:
        """Stop the plan if a limit is behind this error. Raises: PlanTermination."""
        self._stopper.raise_if_failed()
        reached = find_limit(error)
        if reached is not None:
            self._stopper.stop(reached)

    def _run_step(self, task: Task) -> None:
        if task._done:
            return
        before, self.current = self.current, task
        try:
            task._step()
        finally:
            self.current = before

    def _await_event(self) -> None:
        """Wait for the next answer or the next timer, whichever comes first."""
        while self._timers and self._timers[0][2]._done:
            heapq.heappop(self._timers)
        wake = self._timers[0][0] if self._timers else None
        if self.open:
            self._deliver(None if wake is None else min(max(wake - self._now, SHORTEST_WAIT), LONGEST_WAIT))
        elif wake is not None and wake > self._now:
            self._run.host.sleep(min(wake - self._now, LONGEST_WAIT))
            self._now = wake
        while self._timers and self._timers[0][0] <= self._now + 1e-9:
            heapq.heappop(self._timers)[2]._finish(None)


async def _await_it(value: Any) -> Any:
    return await value


# ---------------------------------------------------------------------- asyncio


class Lock:
    """As ``asyncio.Lock``. Those that wait get it in their order."""

    _most = 1

    def __init__(self, scheduler: Scheduler, value: int = 1) -> None:
        if type(value) is not int or value < 0:
            raise ValueError("Semaphore initial value must be >= 0")
        self._scheduler, self._free = scheduler, value
        self._waiting: deque[Future] = deque()

    def locked(self) -> bool:
        """Whether nobody can get it now."""
        return self._free == 0

    async def acquire(self) -> bool:
        """Wait until it is free, and take it."""
        if self._free:
            self._free -= 1
            return True
        turn = Future(self._scheduler)
        self._waiting.append(turn)
        try:
            await turn
        except CancelledError:
            if not turn.cancelled():  # it was handed over before the task was cancelled
                self.release()
            raise
        return True

    def release(self) -> None:
        """Give it to the next that waits."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn._done:
                turn._finish(None)
                return
        self._free += 1

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(self, *_: object) -> None:
        self.release()


class MutualLock(Lock):
    """As ``asyncio.Lock``, which only its holder releases."""

    def release(self) -> None:
        """Give it to the next that waits. Raises: RuntimeError: nobody holds it."""
        if self._free:
            raise RuntimeError("Lock is not acquired.")
        super().release()


MutualLock.__name__ = "Lock"
Semaphore = type("Semaphore", (Lock,), {"__doc__": "As ``asyncio.Semaphore``."})


class Event:
    """As ``asyncio.Event``."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler, self._is_set = scheduler, False
        self._waiting: list[Future] = []

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._is_set

    def set(self) -> None:
        """Wake all that wait."""
        self._is_set = True
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            each._finish(None)

    def clear(self) -> None:
        """Let others wait again."""
        self._is_set = False

    async def wait(self) -> bool:
        """Wait until it is set."""
        if not self._is_set:
            self._waiting.append(Future(self._scheduler))
            await self._waiting[-1]
        return True


class Queue:
    """As ``asyncio.Queue``."""

    def __init__(self, scheduler: Scheduler, maxsize: int = 0) -> None:
        self._scheduler, self._most = scheduler, maxsize
        self._items: deque[Any] = deque()
        self._unfinished = 0
        self._changed: list[Future] = []

    def qsize(self) -> int:
        """The number of items."""
        return len(self._items)

    def empty(self) -> bool:
        """Whether there is no item."""
        return not self._items

    def full(self) -> bool:
        """Whether there is no room."""
        return 0 < self._most <= len(self._items)

    def put_nowait(self, item: Any) -> None:
        """Add an item. Raises: QueueFull."""
        if self.full():
            raise QueueFull
        self._items.append(item)
        self._unfinished += 1
        self._tell()

    def get_nowait(self) -> Any:
        """Take the first item. Raises: QueueEmpty."""
        if not self._items:
            raise QueueEmpty
        item = self._items.popleft()
        self._tell()
        return item

    async def put(self, item: Any) -> None:
        """Wait for room, and add an item."""
        while self.full():
            await self._change()
        self.put_nowait(item)

    async def get(self) -> Any:
        """Wait for an item, and take it."""
        while not self._items:
            await self._change()
        return self.get_nowait()

    def task_done(self) -> None:
        """Say that an item was dealt with. Raises: ValueError: more often than there were items."""
        if not self._unfinished:
            raise ValueError("task_done() called too many times")
        self._unfinished -= 1
        self._tell()

    async def join(self) -> None:
        """Wait until all items were dealt with."""
        while self._unfinished:
            await self._change()

    def _change(self) -> Future:
        self._changed.append(Future(self._scheduler))
        return self._changed[-1]

    def _tell(self) -> None:
        changed, self._changed = self._changed, []
        for each in changed:
            each._finish(None)


class Timeout:
    """As ``asyncio.timeout``: cancels the task that is inside when the time is over."""

    def __init__(self, scheduler: Scheduler, seconds: float | None) -> None:
        self._scheduler, self._seconds, self._expired = scheduler, seconds, False
        self._timer: Future | None = None

    def expired(self) -> bool:
        """Whether the time was over before the end."""
        return self._expired

    async def __aenter__(self) -> Timeout:
        task = self._scheduler.current
        if self._seconds is not None and task is not None:
            self._timer = self._scheduler.timer(_seconds(self._seconds))
            self._timer._when_done(lambda: self._end(task))
        return self

    def _end(self, task: Task) -> None:
        if self._timer is not None and not self._timer.cancelled():
            self._expired = True
            task.cancel()

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._expired and kind is CancelledError:
            raise TimeoutError from None


class TaskGroup:
    """As ``asyncio.TaskGroup``: its end waits for all its tasks. If one fails, the others are cancelled."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._tasks: list[Future] = []
        self._parent: Task | None = None
        self._errors: list[Exception] = []
        self._is_failed = self._is_inside = False

    async def __aenter__(self) -> TaskGroup:
        self._parent, self._is_inside = self._scheduler.current, True
        return self

    def create_task(self, coro: Any, *, name: object = None, context: object = None) -> Future:
        """Run a coroutine, or wait for a call, within the group."""
        if not self._is_inside:
            raise RuntimeError("TaskGroup has not been entered")
        task = self._scheduler.future_of(coro)
        self._tasks.append(task)
        task._when_done(lambda: self._take(task))
        return task

    def _take(self, task: Future) -> None:
        if isinstance(task._error, Exception):
            self._errors.append(task._error)
            if not self._is_failed:
                self._fail()

    def _fail(self) -> None:
        self._is_failed = True
        for task in self._tasks:
            task.cancel()
        if self._is_inside and self._parent is not None and self._parent is not self._scheduler.current:
            self._parent.cancel()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, *_: object) -> None:
        if isinstance(error, PlanTermination):
            return
        if error is not None and not self._is_failed:
            self._fail()
        cancelled = error if isinstance(error, CancelledError) else None
        for task in self._tasks:  # a task may add others
            cancelled = await self._wait_for(task) or cancelled
        self._is_inside = False
        self._scheduler.wait_for_dropped_calls()
        own = [error] if isinstance(error, Exception) else []
        if own or self._errors:
            raise ExceptionGroup("unhandled errors in a TaskGroup", [*own, *self._errors]) from None
        if cancelled is not None and cancelled is not error:
            raise cancelled

    async def _wait_for(self, task: Future) -> CancelledError | None:
        """Wait for the end of a task. Returns the error with which this wait was cancelled meanwhile."""
        cancelled = None
        while not task._done:
            ended = Future(self._scheduler)
            task._when_done(lambda ended=ended: ended._finish(None))  # type: ignore[misc]
            try:
                await ended
            except CancelledError as error:
                cancelled = error
                self._fail()
        return cancelled


class CompletedFutures:
    """As ``asyncio.as_completed``: awaitables whose values come in the order in which they are there."""

    def __init__(self, scheduler: Scheduler, futures: list[Future], seconds: float | None = None) -> None:
        self._queue = Queue(scheduler)
        self._left = len(futures)
        for future in futures:
            future._when_done(lambda future=future: self._queue.put_nowait(future))  # type: ignore[misc]
        if seconds is not None:
            timer = scheduler.timer(_seconds(seconds))
            timer._when_done(lambda: self._queue.put_nowait(None))

    def __iter__(self) -> CompletedFutures:
        return self

    __aiter__ = __iter__

    def __next__(self) -> Any:
        if not self._left:
            raise StopIteration
        self._left -= 1
        return self._value()

    async def __anext__(self) -> Future:
        if not self._left:
            raise StopAsyncIteration
        self._left -= 1
        return await self._future()

    async def _value(self) -> Any:
        return (await self._future()).result()

    async def _future(self) -> Future:
        future: Future | None = await self._queue.get()
        if future is None:
            raise TimeoutError
        return future


_WHEN: Final = ("FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED")

_MADE: Final[dict[str, type]] = {
    "BoundedSemaphore": Semaphore,
    "Event": Event,
    "Lock": MutualLock,
    "Queue": Queue,
    "Semaphore": Semaphore,
    "TaskGroup": TaskGroup,
}
_FUNCTIONS: Final = (
    *("as_completed", "create_task", "current_task", "ensure_future", "gather", "iscoroutine", "run", "shield", "sleep"),
    *("timeout", "to_thread", "wait", "wait_for"),
)
_CONSTANTS: Final[dict[str, object]] = {
    "CancelledError": CancelledError,
    "InvalidStateError": InvalidStateError,
    "QueueEmpty": QueueEmpty,
    "QueueFull": QueueFull,
    "TimeoutError": TimeoutError,
    **{name: name for name in _WHEN},
}


def _maker(name: str, kind: type, scheduler: Scheduler) -> Callable[..., object]:
    """A function in place of a class, which plans call and do not look into."""

    def make(*args: Any, **named: Any) -> object:
        return kind(scheduler, *args, **named)

    return set_name(name, make)


def _function(name: str, method: Callable[..., Any]) -> Callable[..., object]:
    def call(*args: Any, **named: Any) -> Any:
        return method(*args, **named)

    return set_name(name, call)


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise TypeError(f"a number of seconds is needed, not {with_article(type(value).__name__)}")
    return min(float(value), LONGEST_WAIT) if value < LONGEST_WAIT else LONGEST_WAIT


class _Asyncio:
    """The functions of ``asyncio``."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def members(self) -> dict[str, object]:
        """The members of the module, by name."""
        made = {name: _maker(name, kind, self._scheduler) for name, kind in _MADE.items()}
        own = {name: _function(name, getattr(self, name)) for name in _FUNCTIONS}
        return {**made, **own, **_CONSTANTS}

    def run(self, main: Any, *, debug: object = None) -> Any:
        if not (isinstance(main, Future) or hasattr(type(main), "__await__")):
            raise ValueError(f"a coroutine was expected, got {with_article(type(main).__name__)}")
        return self._scheduler.run_coroutine(main if type(main) is CoroutineType else _await_it(main))

    def gather(self, *coros_or_futures: Any, return_exceptions: bool = False) -> Future:
        known: dict[int, Future] = {}  # the same coroutine twice is one task, as in Python
        for each in coros_or_futures:
            if id(each) not in known:
                known[id(each)] = self._scheduler.future_of(each)
        parts = [known[id(each)] for each in coros_or_futures]
        return Gathering(self._scheduler, parts, errors_are_values=bool(return_exceptions))

    def create_task(self, coro: Any, *, name: object = None, context: object = None) -> Future:
        return self._scheduler.future_of(coro)

    def ensure_future(self, coro_or_future: Any) -> Future:
        return self._scheduler.future_of(coro_or_future)

    def shield(self, arg: Any) -> Future:
        return Gathering(self._scheduler, [self._scheduler.future_of(arg)])

    def current_task(self) -> Future | None:
        return self._scheduler.current

    def iscoroutine(self, obj: Any) -> bool:
        return type(obj) is CoroutineType

    async def sleep(self, delay: float, result: Any = None) -> Any:
        await self._scheduler.timer(_seconds(delay))
        return result

    async def to_thread(self, func: Any, /, *args: Any, **kwargs: Any) -> Any:
        begin = self._scheduler.find_begin(func)
        return await begin(*args, **kwargs) if begin else func(*args, **kwargs)

    def timeout(self, delay: float | None) -> Timeout:
        return Timeout(self._scheduler, delay)

    async def wait_for(self, fut: Any, timeout: float | None) -> Any:
        async with Timeout(self._scheduler, timeout):
            return await self._scheduler.future_of(fut)

    async def wait(
        self, fs: Iterable[Any], *, timeout: float | None = None, return_when: str = "ALL_COMPLETED"
    ) -> tuple[set[Future], set[Future]]:
        futures = [self._scheduler.future_of(each) for each in fs]
        if not futures:
            raise ValueError("Set of Tasks/Futures is empty.")
        if return_when not in _WHEN:
            raise ValueError(f"Invalid return_when value: {return_when}")
        enough = Future(self._scheduler)

        def look() -> None:
            failed = any(f._error is not None for f in futures) and return_when == "FIRST_EXCEPTION"
            if all(f._done for f in futures) or failed or return_when == "FIRST_COMPLETED":
                enough._finish(None)

        for future in futures:
            future._when_done(look)
        if timeout is not None:
            self._scheduler.timer(_seconds(timeout))._when_done(lambda: enough._finish(None))
        await enough
        return {f for f in futures if f._done}, {f for f in futures if not f._done}

    def as_completed(self, fs: Iterable[Any], *, timeout: float | None = None) -> CompletedFutures:
        return CompletedFutures(self._scheduler, [self._scheduler.future_of(each) for each in fs], timeout)


# ---------------------------------------------------------------------- concurrent.futures, and each


class PoolFuture(Future):
    """As ``concurrent.futures.Future``: its result is waited for."""

    def result(self, timeout: float | None = None) -> Any:
        """The value, once it is there. Raises: the error; TimeoutError."""
        self._wait(timeout)
        return super().result()

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """The error or None, once it is there. Raises: TimeoutError; CancelledError."""
        self._wait(timeout)
        return super().exception()

    def _wait(self, seconds: float | None) -> None:
        if not self._done and not self._scheduler.wait_for_any([self], seconds):
            raise TimeoutError

    def running(self) -> bool:
        """Whether it is open."""
        return not self._done


class PoolResults:
    """The results of ``ThreadPoolExecutor.map``, each waited for when it is read."""

    def __init__(self, futures: list[PoolFuture], seconds: float | None) -> None:
        self._left, self._seconds = deque(futures), seconds

    def __iter__(self) -> PoolResults:
        return self

    def __next__(self) -> Any:
        if not self._left:
            raise StopIteration
        return self._left.popleft().result(self._seconds)


class ThreadPoolExecutor:
    """As ``concurrent.futures.ThreadPoolExecutor``: the agent's methods run at the same time, and a function of the plan
    when it is given. ``max_workers`` is how many calls may be open.
    """

    def __init__(self, scheduler: Scheduler, max_workers: int | None = None, **_: object) -> None:
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._scheduler, self._most = scheduler, max_workers or MAX_OPEN_CALLS
        self._futures: list[PoolFuture] = []
        self._is_over = False

    def __enter__(self) -> ThreadPoolExecutor:
        return self

    def __exit__(self, kind: type[BaseException] | None = None, error: BaseException | None = None, *_: object) -> None:
        if not isinstance(error, PlanTermination):
            self.shutdown()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> PoolFuture:
        """Begin a call. Raises: RuntimeError: the pool is shut down."""
        if self._is_over:
            raise RuntimeError("cannot schedule new futures after shutdown")
        while len(waiting := [future for future in self._futures if not future._done]) >= self._most:
            self._scheduler.wait_for_any(waiting)
        future = self._scheduler.begin_in_pool(fn, args, kwargs)
        self._futures = [*waiting, future]
        return future

    def map(self, fn: Any, *iterables: Any, timeout: float | None = None, chunksize: int = 1) -> PoolResults:
        """Begin a call for the items, as ``map`` takes them."""
        return PoolResults([self.submit(fn, *args) for args in zip(*iterables, strict=False)], timeout)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for all calls."""
        self._is_over = True
        if cancel_futures:
            for future in self._futures:
                future.cancel()
        self._scheduler.wait_for_calls(self._futures)
        self._scheduler.wait_for_dropped_calls()


class PoolCompleted:
    """As ``concurrent.futures.as_completed``."""

    def __init__(self, scheduler: Scheduler, futures: list[Future], seconds: float | None) -> None:
        self._scheduler, self._seconds = scheduler, seconds
        self._waiting = len(futures)
        self._ended: deque[Future] = deque()
        for future in futures:
            future._when_done(lambda future=future: self._ended.append(future))  # type: ignore[misc]
        self._futures = futures

    def __iter__(self) -> PoolCompleted:
        return self

    def __next__(self) -> Future:
        if not self._waiting:
            raise StopIteration
        left = [future for future in self._futures if not future._done]
        if not self._ended and not self._scheduler.wait_for_any(left, self._seconds):
            raise TimeoutError
        self._waiting -= 1
        return self._ended.popleft()


def _pool_members(scheduler: Scheduler) -> dict[str, object]:
    def as_completed(fs: Iterable[Future], timeout: float | None = None) -> PoolCompleted:
        return PoolCompleted(scheduler, list(fs), timeout)

    def wait(
        fs: Iterable[Future], timeout: float | None = None, return_when: str = "ALL_COMPLETED"
    ) -> tuple[set[Future], set[Future]]:
        futures = list(fs)
        if return_when == "ALL_COMPLETED" and timeout is None:
            scheduler.wait_for_calls(futures)
        else:
            scheduler.wait_for_any([f for f in futures if not f._done], timeout)
        return {f for f in futures if f._done}, {f for f in futures if not f._done}

    return {
        "ThreadPoolExecutor": _maker("ThreadPoolExecutor", ThreadPoolExecutor, scheduler),
        "as_completed": set_name("as_completed", as_completed),
        "wait": set_name("wait", wait),
        "CancelledError": CancelledError,
        "TimeoutError": TimeoutError,
        **{name: name for name in _WHEN},
    }


def make_each(scheduler: Scheduler) -> Callable[..., list[Any]]:
    """The builtin ``each(agent.f, xs)``: the results for all items, in order, from calls at the same time."""

    def each(function: Any, /, *iterables: Any) -> list[Any]:
        if not iterables:
            raise TypeError("each() takes a function and what to call it with: each(agent.f, items)")
        begin = scheduler.find_begin(function) or function
        parts: list[Any] = []
        try:
            for args in zip(*iterables, strict=False):
                parts.append(begin(*args))
        except Exception:
            scheduler.wait_for_calls(part for part in parts if isinstance(part, Future))
            raise
        return scheduler.finish_all(parts)

    return set_name("each", each)


def make_concurrency_modules(scheduler: Scheduler) -> dict[str, ModuleFacade]:
    """The modules ``asyncio`` and ``concurrent.futures`` by name."""
    pool = ModuleFacade("concurrent.futures", _pool_members(scheduler))
    return {
        "asyncio": ModuleFacade("asyncio", _Asyncio(scheduler).members()),
        "concurrent": ModuleFacade("concurrent", {"futures": pool}),
        "concurrent.futures": pool,
    }


_FUTURE_NAMES: Final = split_names("done cancelled result exception cancel")
ALLOWED_ATTRIBUTES.update(
    {
        Future: _FUTURE_NAMES,
        Task: _FUTURE_NAMES,
        Gathering: _FUTURE_NAMES,
        PoolFuture: _FUTURE_NAMES | {"running"},
        MutualLock: split_names("acquire release locked"),
        Semaphore: split_names("acquire release locked"),
        Event: split_names("is_set set clear wait"),
        Queue: split_names("qsize empty full put_nowait get_nowait put get task_done join"),
        Timeout: split_names("expired"),
        TaskGroup: split_names("create_task"),
        ThreadPoolExecutor: split_names("submit map shutdown"),
    }
)
