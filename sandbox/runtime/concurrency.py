"""The facades of ``asyncio`` and ``concurrent.futures``, and the builtin ``each``, over the plan's own scheduler."""

from __future__ import annotations

import _thread
import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import CoroutineType, FunctionType, GenericAlias, MethodType
from typing import Any, Final, NamedTuple

from codeplan.sandbox.runtime.attributes import ALLOWED_ATTRIBUTES, ModuleFacade
from codeplan.sandbox.runtime.classes import RUNTIME_BASES, mark_class
from codeplan.sandbox.runtime.guards import GETS_END, set_name, show_as
from codeplan.sandbox.runtime.module_names import split_names
from codeplan.sandbox.runtime.object_modules import is_coroutine_function
from codeplan.sandbox.runtime.scheduling import (
    MAX_OPEN_CALLS,
    CancelledError,
    Future,
    Gathering,
    InvalidStateError,
    Pause,
    PlanTask,
    PoolFuture,
    Scheduler,
    SetFuture,
    await_it,
    seconds_of,
)
from codeplan.sandbox.runtime.switching import THREADS, Steps, Wait, waiting
from codeplan.sandbox.runtime.termination import PlanTermination
from codeplan.sandbox.runtime.thread_modules import WAITED_FOR, refuse_copies
from codeplan.untrusted.texts import with_article


class QueueEmpty(Exception):  # Python's name
    """``get_nowait`` found nothing."""


class QueueFull(Exception):  # Python's name
    """``put_nowait`` found no room."""


QueueEmpty.__module__ = QueueFull.__module__ = "asyncio"


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


class AwaitedCondition:
    """As ``asyncio.Condition``: a lock, and tasks that wait inside it until another notifies them."""

    def __init__(self, scheduler: Scheduler, lock: MutualLock | None = None) -> None:
        self._scheduler, self._lock = scheduler, MutualLock(scheduler) if lock is None else lock
        self._told: deque[Future] = deque()

    def locked(self) -> bool:
        """Whether the lock is held."""
        return self._lock.locked()

    async def acquire(self) -> bool:
        """Wait for the lock, and take it."""
        return await self._lock.acquire()

    def release(self) -> None:
        """Release the lock."""
        self._lock.release()

    async def __aenter__(self) -> None:
        await self._lock.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()

    async def wait(self) -> bool:
        """Release the lock, wait to be notified, and take it again. Raises: RuntimeError: it is not held."""
        self._require_held("wait on")
        self._lock.release()
        told = Future(self._scheduler)
        self._told.append(told)
        try:
            await told
        finally:
            await self._lock.acquire()
        return True

    async def wait_for(self, predicate: Callable[[], Any]) -> Any:
        """Wait until the predicate is true, and return its value."""
        while not (result := predicate()):
            await self.wait()
        return result

    def notify(self, n: int = 1) -> None:
        """Wake so many that wait. Raises: RuntimeError: the lock is not held."""
        self._require_held("notify on")
        while self._told and n > 0:
            told = self._told.popleft()
            if not told._done:
                told._finish(None)
                n -= 1

    def notify_all(self) -> None:
        """Wake all that wait. Raises: RuntimeError: the lock is not held."""
        self.notify(len(self._told))

    def _require_held(self, doing: str) -> None:
        if not self._lock.locked():
            raise RuntimeError(f"cannot {doing} un-acquired lock")


class Queue:
    """As ``asyncio.Queue``."""

    def __init__(self, scheduler: Scheduler, maxsize: int = 0) -> None:
        self._scheduler, self._most = scheduler, maxsize
        self._items: Any = deque()
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
        self._add(item)
        self._unfinished += 1
        self._tell()

    def get_nowait(self) -> Any:
        """Take the first item. Raises: QueueEmpty."""
        if not self._items:
            raise QueueEmpty
        item = self._take()
        self._tell()
        return item

    def _add(self, item: Any) -> None:
        self._items.append(item)

    def _take(self) -> Any:
        return self._items.popleft()

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


class AwaitedLifoQueue(Queue):
    """As ``asyncio.LifoQueue``."""

    def _take(self) -> Any:
        return self._items.pop()


class AwaitedPriorityQueue(Queue):
    """As ``asyncio.PriorityQueue``."""

    def __init__(self, scheduler: Scheduler, maxsize: int = 0) -> None:
        super().__init__(scheduler, maxsize)
        self._items = []

    def _add(self, item: Any) -> None:
        heapq.heappush(self._items, item)

    def _take(self) -> Any:
        return heapq.heappop(self._items)


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
            self._timer = self._scheduler.timer(seconds_of(self._seconds))
            self._timer._when_done(lambda: self._end(task))
        return self

    def _end(self, task: PlanTask) -> None:
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
        self._parent: PlanTask | None = None
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
        if name is not None:
            task.set_name(name)
        self._tasks.append(task)
        task._when_done(lambda: self._take(task))
        return task

    def _take(self, task: Future) -> None:
        error: Any = task._error
        if issubclass(type(error), Exception):
            self._errors.append(error)
            if not self._is_failed:
                self._scheduler.ready.append(self._fail_once)

    def _fail_once(self) -> None:
        """Cancel the other tasks. As in Python, those that are ready have run before."""
        if not self._is_failed:
            self._fail()

    def _fail(self) -> None:
        self._is_failed = True
        for task in self._tasks:
            task.cancel()
        if self._is_inside and self._parent is not None and self._parent is not self._scheduler.current:
            self._parent.cancel()

    async def __aexit__(self, kind: type[BaseException] | None, error: Any, *_: object) -> None:
        if issubclass(type(error), PlanTermination):
            return
        if error is not None and not self._is_failed:
            self._fail()
        cancelled = error if issubclass(type(error), CancelledError) else None
        for task in self._tasks:  # a task may add others
            cancelled = await self._wait_for(task) or cancelled
        self._is_inside = False
        self._scheduler.wait_for_dropped_calls()
        own = [error] if issubclass(type(error), Exception) else []
        if own or self._errors:
            raise ExceptionGroup("unhandled errors in a TaskGroup", [*self._errors, *own]) from None
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
            timer = scheduler.timer(seconds_of(seconds))
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


class EventLoop:
    """As the loop of ``asyncio`` that runs a plan's coroutines."""

    def __init__(self, scheduler: Scheduler, module: _Asyncio) -> None:
        self._scheduler, self._module, self._is_closed = scheduler, module, False

    def __repr__(self) -> str:
        return f"<EventLoop running={self.is_running()} closed={self._is_closed} debug=False>"

    def create_future(self) -> SetFuture:
        """A future to which the plan gives a value."""
        return SetFuture()

    def create_task(self, coro: Any, *, name: object = None, context: object = None) -> Future:
        """As ``asyncio.create_task``."""
        return self._module.create_task(coro, name=name)

    def run_in_executor(self, executor: ThreadPoolExecutor | None, func: Any, /, *args: Any) -> Future:
        """Begin a call of the agent; call any other function at once. Its value or its error is that of the future."""
        pool = type(executor) is ThreadPoolExecutor
        begun = executor.submit(func, *args) if pool and executor else self._scheduler.begin_in_pool(func, args, {})
        future = Future(self._scheduler)
        begun._when_done(lambda: future._finish(begun._value, begun._error))
        return future

    def run_until_complete(self, future: Any) -> Any:
        """As ``asyncio.run``."""
        if self._is_closed:
            raise RuntimeError("Event loop is closed")
        return self._module.run(future)

    def time(self) -> float:
        """Seconds on the plan's clock."""
        return self._scheduler.time()

    def is_running(self) -> bool:
        """Whether a coroutine runs."""
        return self._scheduler.current is not None

    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._is_closed

    def close(self) -> None:
        """Close it. Raises: RuntimeError: a coroutine runs."""
        if self.is_running():
            raise RuntimeError("Cannot close a running event loop")
        self._is_closed = True


class Runner:
    """As ``asyncio.Runner``."""

    def __init__(self, module: _Asyncio) -> None:
        self._module = module

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind: every run ends what it began."""

    def run(self, coro: Any, *, context: object = None) -> Any:
        """As ``asyncio.run``."""
        return self._module.run(coro)

    def get_loop(self) -> EventLoop:
        """Its loop."""
        return self._module.get_event_loop()


class _Shown(type):
    """Makes a class as plans see it, for annotations and for ``isinstance``. ``kinds`` are those of its objects."""

    kinds: tuple[type, ...]

    def __instancecheck__(cls, value: object) -> bool:
        return issubclass(type(value), cls.kinds) and type(value) is not PoolFuture

    def __call__(cls, *args: object, **named: object) -> Any:
        raise TypeError(f"a plan makes no {cls.__name__} by its class")


class _ShownFuture(_Shown):
    def __call__(cls, *, loop: object = None) -> SetFuture:  # type: ignore[override]
        return SetFuture()


def _shown(name: str, *kinds: type, by: type[_Shown] = _Shown) -> Any:
    return by(name, (), {"kinds": kinds, "__module__": "asyncio", "__class_getitem__": classmethod(GenericAlias)})


_WHEN: Final = ("FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED")

_MADE: Final[dict[str, type]] = {
    "BoundedSemaphore": Semaphore,
    "Event": Event,
    "Lock": MutualLock,
    "Condition": AwaitedCondition,
    "LifoQueue": AwaitedLifoQueue,
    "PriorityQueue": AwaitedPriorityQueue,
    "Queue": Queue,
    "Semaphore": Semaphore,
    "TaskGroup": TaskGroup,
}
_FUNCTIONS: Final = split_names(
    "all_tasks as_completed create_task current_task ensure_future gather get_event_loop get_running_loop iscoroutine "
    "iscoroutinefunction isfuture new_event_loop run set_event_loop shield sleep timeout timeout_at to_thread wait "
    "wait_for"
)
_CONSTANTS: Final[dict[str, object]] = {
    "CancelledError": CancelledError,
    "AbstractEventLoop": _shown("AbstractEventLoop", EventLoop),
    "Future": _shown("Future", Future, by=_ShownFuture),
    "InvalidStateError": InvalidStateError,
    "QueueEmpty": QueueEmpty,
    "QueueFull": QueueFull,
    "Task": _shown("Task", Future),  # a call that was begun is one, too
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


class _Asyncio:
    """The functions of ``asyncio``."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._loop: EventLoop | None = None

    def members(self) -> dict[str, object]:
        """The members of the module, by name."""
        made = {name: _maker(name, kind, self._scheduler) for name, kind in _MADE.items()}
        own = {name: _function(name, getattr(self, name)) for name in _FUNCTIONS}
        return {**made, **own, "Runner": set_name("Runner", lambda **_: Runner(self)), **_CONSTANTS}

    def run(self, main: Any, *, debug: object = None) -> Any:
        if not (isinstance(main, Future) or hasattr(type(main), "__await__")):
            raise ValueError(f"a coroutine was expected, got {with_article(type(main).__name__)}")
        return self._scheduler.run_coroutine(main if type(main) is CoroutineType else await_it(main))

    def gather(self, *coros_or_futures: Any, return_exceptions: bool = False) -> Future:
        known: dict[int, Future] = {}  # the same coroutine twice is one task, as in Python
        for each in coros_or_futures:
            if id(each) not in known:
                known[id(each)] = self._scheduler.future_of(each)
        parts = [known[id(each)] for each in coros_or_futures]
        return Gathering(self._scheduler, parts, errors_are_values=bool(return_exceptions))

    def create_task(self, coro: Any, *, name: object = None, context: object = None) -> Future:
        task = self._scheduler.future_of(coro)
        if name is not None:
            task.set_name(name)
        return task

    def all_tasks(self, loop: object = None) -> set[Future]:
        return set(self._scheduler.tasks)

    def get_running_loop(self) -> EventLoop:
        if self._scheduler.current is None:
            raise RuntimeError("no running event loop")
        return self.get_event_loop()

    def get_event_loop(self) -> EventLoop:
        if self._loop is None or self._loop.is_closed():
            self._loop = self.new_event_loop()
        return self._loop

    def new_event_loop(self) -> EventLoop:
        return EventLoop(self._scheduler, self)

    def set_event_loop(self, loop: object) -> None:
        self._loop = loop if type(loop) is EventLoop else None

    def iscoroutinefunction(self, func: Any) -> bool:
        return is_coroutine_function(func)

    def isfuture(self, obj: Any) -> bool:
        return isinstance(obj, Future)

    def ensure_future(self, coro_or_future: Any) -> Future:
        return self._scheduler.future_of(coro_or_future)

    def shield(self, arg: Any) -> Future:
        inner, outer = self._scheduler.future_of(arg), Future(self._scheduler)
        inner._when_done(lambda: outer._finish(inner._value, inner._error))
        return outer

    def current_task(self) -> Future | None:
        return self._scheduler.current

    def iscoroutine(self, obj: Any) -> bool:
        return type(obj) is CoroutineType

    async def sleep(self, delay: float, result: Any = None) -> Any:
        seconds = seconds_of(delay)
        await (self._scheduler.timer(seconds) if seconds > 0 or self._scheduler.waits else Pause())
        return result

    async def to_thread(self, func: Any, /, *args: Any, **kwargs: Any) -> Any:
        begin = self._scheduler.find_begin(func)
        return await begin(*args, **kwargs) if begin else func(*args, **kwargs)

    def timeout(self, delay: float | None) -> Timeout:
        return Timeout(self._scheduler, delay)

    def timeout_at(self, when: float | None) -> Timeout:
        return Timeout(self._scheduler, None if when is None else seconds_of(when) - self._scheduler.time())

    async def wait_for(self, fut: Any, timeout: float | None) -> Any:
        future = self._scheduler.future_of(fut)
        if timeout is not None and seconds_of(timeout) <= 0 and not future.done():
            future.cancel()
            await self.wait([future])
            if future.cancelled():
                raise TimeoutError
        async with Timeout(self._scheduler, timeout):
            return await future

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
            self._scheduler.timer(seconds_of(timeout))._when_done(lambda: enough._finish(None))
        await enough
        return {f for f in futures if f._done}, {f for f in futures if not f._done}

    def as_completed(self, fs: Iterable[Any], *, timeout: float | None = None) -> CompletedFutures:
        return CompletedFutures(self._scheduler, [self._scheduler.future_of(each) for each in fs], timeout)


# ---------------------------------------------------------------------- concurrent.futures, and each


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
    """As ``concurrent.futures.ThreadPoolExecutor``: calls of the agent's methods run together, a function of the
    plan runs when it is given. ``max_workers`` is how many calls may be open.
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
        if not issubclass(type(error), PlanTermination):
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


class DoneAndNotDoneFutures(NamedTuple):
    """What ``concurrent.futures.wait`` returns."""

    done: set[Future]
    not_done: set[Future]


def _pool_members(scheduler: Scheduler) -> dict[str, object]:
    def as_completed(fs: Iterable[Future], timeout: float | None = None) -> PoolCompleted:
        return PoolCompleted(scheduler, list(fs), timeout)

    def wait(
        fs: Iterable[Future], timeout: float | None = None, return_when: str = "ALL_COMPLETED"
    ) -> DoneAndNotDoneFutures:
        futures = list(fs)
        if return_when not in _WHEN:
            raise ValueError(f"Invalid return condition: {return_when!r}")

        def is_enough() -> bool:
            done = [f for f in futures if f._done]
            some = any(return_when == "FIRST_COMPLETED" or f._error for f in done) and return_when != "ALL_COMPLETED"
            return some or len(done) == len(futures)

        scheduler.wait_until(is_enough, timeout)
        return DoneAndNotDoneFutures({f for f in futures if f._done}, {f for f in futures if not f._done})

    return {
        "Future": PoolFuture,
        "ThreadPoolExecutor": _maker("ThreadPoolExecutor", ThreadPoolExecutor, scheduler),
        "as_completed": set_name("as_completed", as_completed),
        "wait": set_name("wait", wait),
        "CancelledError": CancelledError,
        "TimeoutError": TimeoutError,
        **{name: name for name in _WHEN},
    }


# ---------------------------------------------------------------------- threads, and context variables


def _thread_class(scheduler: Scheduler) -> Any:
    class Thread:
        """As ``threading.Thread``: ``start`` runs it until it waits, and others go on while it does."""

        def __init__(
            self, group: None = None, target: Any = None, name: str | None = None, args: Iterable[Any] = (),
            kwargs: dict[str, Any] | None = None, *, daemon: bool | None = None,
        ) -> None:  # fmt: skip
            self._target, self._args, self._kwargs = target, tuple(args), dict(kwargs or {})
            called = f" ({target.__name__})" if type(target) in (FunctionType, MethodType) else ""
            self.name, self.daemon = name or f"Thread-{next(scheduler.thread_numbers)}{called}", bool(daemon)
            self._future: Any = None
            self._numbers, self.ident = scheduler.thread_numbers, next(scheduler.thread_idents)

        def __repr__(self) -> str:
            return f"<{type(self).__name__}({self.name})>"

        def run(self) -> None:
            """Call the target."""
            if self._target is not None:
                self._target(*self._args, **self._kwargs)

        def start(self) -> None:
            """Run it until it waits, or to its end. Raises: RuntimeError: it ran before."""
            if self._future is not None:
                raise RuntimeError("threads can only be started once")
            target = self._target if type(self).run is run and self._target is not None else self.run
            given = (self._args, self._kwargs) if target is self._target else ((), {})
            self._future = scheduler.begin_in_pool(target, *given, owner=self)
            future = self._future
            future._when_done(lambda: scheduler.report(future._error, f"Exception in {self.name}"))

        def join(self, timeout: float | None = None) -> None:
            """Wait for its end. Raises: RuntimeError: it was not started."""
            if type(self._future) is not PoolFuture:
                raise RuntimeError("cannot join thread before it is started")
            if not self._future._done:
                scheduler.wait_for_any([self._future], timeout)

        def is_alive(self) -> bool:
            """Whether it was started and has not ended."""
            return type(self._future) is PoolFuture and not self._future._done

    run = Thread.run
    RUNTIME_BASES.add(Thread)
    mark_class(Thread, shared=True)
    held = getattr(_thread, "_ThreadHandle", _thread.LockType)  # a thread holds one or the other
    refuse_copies(Thread, f"_thread.{held.__name__}", ["__deepcopy__"])
    show_as("threading", Thread)
    return Thread


def _timer_class(thread: Any) -> Any:
    class Timer(thread):  # type: ignore[misc]
        """As ``threading.Timer``: calls the function after a time, unless it is cancelled before."""

        def __init__(
            self, interval: float, function: Any, args: Iterable[Any] | None = None,
            kwargs: dict[str, Any] | None = None,
        ) -> None:  # fmt: skip
            super().__init__()
            self.interval, self.function = interval, function
            self.args, self.kwargs = args or (), kwargs or {}
            self._is_cancelled = False

        def cancel(self) -> None:
            """Do not call the function, if it was not called yet."""
            self._is_cancelled = True

        @waiting
        def run(self) -> Steps:
            """Wait, and call the function."""
            if not (yield Wait(lambda: self._is_cancelled, seconds_of(self.interval), "the timer runs")):
                return (yield from THREADS.call(self.function, *self.args, **self.kwargs))
            return None

    mark_class(Timer, shared=True)
    show_as("threading", Timer)
    return Timer


def _thread_members(scheduler: Scheduler) -> dict[str, object]:
    """``Thread`` and what tells which one runs, beside the locks that need no threads."""
    Thread = _thread_class(scheduler)
    mains: list[Any] = []

    def main_thread() -> Any:
        if not mains or mains[0]._numbers is not scheduler.thread_numbers:
            mains[:] = [Thread(name="MainThread")]
        return mains[0]

    def current_thread() -> Any:
        owner = THREADS.current
        return owner if isinstance(owner, Thread) else main_thread()

    def enumerate() -> list[Any]:
        owners = [thread.owner for thread in THREADS.standing] + THREADS.running
        return [main_thread(), *(owner for owner in owners if isinstance(owner, Thread))]

    def active_count() -> int:
        return len(enumerate())

    def get_ident() -> int:
        return current_thread().ident  # type: ignore[no-any-return]

    listed: tuple[Any, ...] = (active_count, current_thread, enumerate, get_ident, main_thread)
    return {**WAITED_FOR, "Thread": Thread, "Timer": _timer_class(Thread)} | {
        f.__name__: set_name(f.__name__, f) for f in listed
    }


class ContextToken:
    """What ``ContextVar.set`` returns: the value before."""

    def __init__(self, var: Any, old_value: Any) -> None:
        self.var, self.old_value = var, old_value


class PlanContext:
    """As ``contextvars.Context``: the values of context variables."""

    def __init__(self, scheduler: Scheduler, values: dict[object, object]) -> None:
        self._scheduler, self._values = scheduler, values

    def run(self, callable: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function with these values."""
        before, self._scheduler.context = self._scheduler.context, self._values
        try:
            return callable(*args, **kwargs)
        finally:
            self._scheduler.context = before

    def copy(self) -> PlanContext:
        """The same values."""
        return PlanContext(self._scheduler, dict(self._values))

    def get(self, var: object, default: object = None) -> object:
        """A variable's value, or the default."""
        return self._values.get(var, default)

    def items(self) -> list[tuple[object, object]]:
        """The variables with their values."""
        return list(self._values.items())

    def __getitem__(self, var: object) -> object:
        return self._values[var]

    def __contains__(self, var: object) -> bool:
        return var in self._values

    def __iter__(self) -> Iterator[object]:
        return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)


def _context_members(scheduler: Scheduler) -> dict[str, object]:
    missing = object()

    class ContextVar:
        """As ``contextvars.ContextVar``: a variable that each task has for itself."""

        __slots__ = ("_default", "name")
        __class_getitem__: Any = classmethod(GenericAlias)

        def __init__(self, name: str, *, default: object = missing) -> None:
            self.name, self._default = name, default

        def __repr__(self) -> str:
            return f"<ContextVar name={self.name!r}>"

        def get(self, default: object = missing, /) -> object:
            """Its value here. Raises: LookupError: it has none, and there is no default."""
            found = scheduler.context.get(self, self._default if default is missing else default)
            if found is missing:
                raise LookupError(self)
            return found

        def set(self, value: object, /) -> ContextToken:
            """Set it for this task, and return what takes that back."""
            token = ContextToken(self, scheduler.context.get(self, missing))
            scheduler.context[self] = value
            return token

        def reset(self, token: ContextToken, /) -> None:
            """Give it the value that it had. Raises: ValueError: the token is of another variable."""
            if type(token) is not ContextToken or token.var is not self:
                raise ValueError(f"{self!r} has not made this token")
            if token.old_value is missing:
                scheduler.context.pop(self, None)
            else:
                scheduler.context[self] = token.old_value

    ALLOWED_ATTRIBUTES[ContextVar] = split_names("get name reset set")

    def copy_context() -> PlanContext:
        return PlanContext(scheduler, dict(scheduler.context))

    return {
        "Context": _maker("Context", lambda made: PlanContext(made, {}), scheduler),  # type: ignore[arg-type]
        "ContextVar": ContextVar,
        "Token": ContextToken,
        "copy_context": set_name("copy_context", copy_context),
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
                parts.append(begin(*args))  # noqa: PERF401  # what was begun before an error is waited for
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
        "contextvars": ModuleFacade("contextvars", _context_members(scheduler)),
        "threading": ModuleFacade("threading", _thread_members(scheduler)),
    }


for _own in (AwaitedCondition, AwaitedLifoQueue, AwaitedPriorityQueue):
    _own.__name__ = _own.__name__.removeprefix("Awaited")
PoolFuture.__name__ = "Future"
show_as("asyncio", Lock, *_MADE.values(), Timeout, Future, PlanTask, Gathering, SetFuture, EventLoop, Runner)
GETS_END |= {TaskGroup, ThreadPoolExecutor}
show_as("concurrent.futures", ThreadPoolExecutor, PoolResults, PoolFuture)
for _kind, _name in ((ContextToken, "Token"), (PlanContext, "Context")):
    _kind.__module__, _kind.__name__, _kind.__qualname__ = "contextvars", _name, _name

_QUEUE_NAMES: Final = split_names("qsize empty full put_nowait get_nowait put get task_done join")
_FUTURE_NAMES: Final = split_names(
    "__await__ add_done_callback cancel cancelled done exception get_name result set_name"
)
ALLOWED_ATTRIBUTES.update(
    {
        Future: _FUTURE_NAMES,
        PlanTask: _FUTURE_NAMES,
        Gathering: _FUTURE_NAMES,
        SetFuture: _FUTURE_NAMES - {"get_name", "set_name"} | split_names("set_exception set_result"),
        EventLoop: split_names(
            "close create_future create_task is_closed is_running run_in_executor run_until_complete time"
        ),
        Runner: split_names("get_loop run"),
        DoneAndNotDoneFutures: split_names("_asdict _fields count done index not_done"),
        PoolFuture: _FUTURE_NAMES - {"get_name", "set_name"}
        | split_names("running set_exception set_result set_running_or_notify_cancel"),
        MutualLock: split_names("acquire release locked"),
        Semaphore: split_names("acquire release locked"),
        Event: split_names("is_set set clear wait"),
        AwaitedCondition: split_names("acquire locked notify notify_all release wait wait_for"),
        Queue: _QUEUE_NAMES,
        AwaitedLifoQueue: _QUEUE_NAMES,
        AwaitedPriorityQueue: _QUEUE_NAMES,
        Timeout: split_names("expired"),
        TaskGroup: split_names("create_task"),
        ThreadPoolExecutor: split_names("submit map shutdown"),
        ContextToken: split_names("old_value var"),
        PlanContext: split_names("copy get items run"),
    }
)
