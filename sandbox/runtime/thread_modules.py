"""``queue`` and what ``threading`` waits for, over the switch of a plan's threads."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from codeplan.sandbox.runtime.attributes import ALLOWED_ATTRIBUTES
from codeplan.sandbox.runtime.classes import mark_class
from codeplan.sandbox.runtime.guards import show_as
from codeplan.sandbox.runtime.module_names import split_names
from codeplan.sandbox.runtime.switching import THREADS, EndedIteration, Steps, Wait, waiting

_FOREVER: Final = -1


class Empty(Exception):
    """``get`` found nothing."""


class Full(Exception):
    """``put`` found no room."""


Empty.__module__ = Full.__module__ = "queue"


def _seconds(timeout: Any) -> float | None:
    """A limit of a wait. Raises: TypeError; ValueError."""
    if timeout is None:
        return None
    if type(timeout) is bool or not isinstance(timeout, int | float) or timeout != timeout:
        raise TypeError("'timeout' must be a number or None")
    if timeout < 0:
        raise ValueError("'timeout' must be a non-negative number")
    return float(min(timeout, 1e6))


class ThreadQueue:
    """As ``queue.Queue``."""

    def __init__(self, maxsize: int = 0) -> None:
        self.maxsize = maxsize
        self._items: Any = deque()
        self._unfinished = 0

    def qsize(self) -> int:
        """The number of items."""
        return len(self._items)

    def empty(self) -> bool:
        """Whether there is no item."""
        return not self._items

    def full(self) -> bool:
        """Whether there is no room."""
        return 0 < self.maxsize <= len(self._items)

    @waiting
    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> Steps:
        """Wait for room, and add an item. Raises: Full; RuntimeError: it would wait for ever."""
        if self.full() and not (
            block and (yield Wait(lambda: not self.full(), _seconds(timeout), "the queue is full"))
        ):
            raise Full
        self._add(item)
        self._unfinished += 1

    def put_nowait(self, item: Any) -> None:
        """Add an item. Raises: Full."""
        self.put(item, block=False)

    @waiting
    def get(self, block: bool = True, timeout: float | None = None) -> Steps:
        """Wait for an item, and take it. Raises: Empty; RuntimeError: it would wait for ever."""
        if not self._items and not (
            block and (yield Wait(lambda: bool(self._items), _seconds(timeout), "the queue is empty"))
        ):
            raise Empty
        return self._take()

    def get_nowait(self) -> Any:
        """Take the next item. Raises: Empty."""
        return self.get(block=False)

    def task_done(self) -> None:
        """Say that an item was dealt with. Raises: ValueError: more often than there were items."""
        if not self._unfinished:
            raise ValueError("task_done() called too many times")
        self._unfinished -= 1

    @waiting
    def join(self) -> Steps:
        """Wait until all items were dealt with. Raises: RuntimeError: it would wait for ever."""
        if self._unfinished:
            yield Wait(lambda: not self._unfinished, None, f"{self._unfinished} items were not dealt with")

    def _add(self, item: Any) -> None:
        self._items.append(item)

    def _take(self) -> Any:
        return self._items.popleft()


class LifoQueue(ThreadQueue):
    """As ``queue.LifoQueue``."""

    def _take(self) -> Any:
        return self._items.pop()


class PriorityQueue(ThreadQueue):
    """As ``queue.PriorityQueue``."""

    def __init__(self, maxsize: int = 0) -> None:
        super().__init__(maxsize)
        self._items = []

    def _add(self, item: Any) -> None:
        heapq.heappush(self._items, item)

    def _take(self) -> Any:
        return heapq.heappop(self._items)


class SimpleQueue(ThreadQueue):
    """As ``queue.SimpleQueue``."""

    def __init__(self) -> None:
        super().__init__()


ThreadQueue.__name__ = "Queue"
show_as("queue", ThreadQueue, LifoQueue, PriorityQueue, SimpleQueue)
QUEUE_MEMBERS: dict[str, object] = {
    kind.__name__: kind for kind in (Empty, Full, LifoQueue, PriorityQueue, SimpleQueue, ThreadQueue)
}

_METHODS = split_names("empty full get get_nowait join maxsize put put_nowait qsize task_done")
ALLOWED_ATTRIBUTES |= dict.fromkeys((ThreadQueue, LifoQueue, PriorityQueue, SimpleQueue), _METHODS)


class ThreadLock:
    """As ``threading.Lock``."""

    _most = 1

    def __init__(self) -> None:
        self._free = self._most

    @waiting
    def acquire(self, blocking: bool = True, timeout: float = _FOREVER) -> Steps:
        """Wait until it is free, and take it. Returns whether that worked. Raises: RuntimeError: it waits for ever."""
        if not self._is_free():
            seconds = None if timeout == _FOREVER else _seconds(timeout)
            if not blocking or not (yield Wait(self._is_free, seconds, "it is held")):
                return False
        self._take()
        return True

    def release(self) -> None:
        """Give it back. Raises: RuntimeError: it is not held."""
        if self._free >= self._most:
            raise RuntimeError("release unlocked lock")
        self._free += 1

    def locked(self) -> bool:
        """Whether it is held."""
        return self._free <= 0

    def _is_free(self) -> bool:
        return self._free > 0

    def _take(self) -> None:
        self._free -= 1

    def _is_held(self) -> bool:
        return self._free < self._most

    def _release_all(self) -> int:
        """Give it back, however often it was taken, and return how often."""
        self._free = self._most
        return 1

    def _take_again(self, times: int) -> None:
        self._free -= times

    def __enter__(self) -> bool:
        return self.acquire()  # type: ignore[no-any-return]

    def __exit__(self, *_: object) -> None:
        self.release()


class ThreadRLock(ThreadLock):
    """As ``threading.RLock``: its holder takes it again."""

    def __init__(self) -> None:
        super().__init__()
        self._holder: Any = None

    def _is_free(self) -> bool:
        return not self._is_held() or self._holder is THREADS.current

    def _take(self) -> None:
        self._holder = THREADS.current
        self._free -= 1

    def release(self) -> None:
        """Give it back. Raises: RuntimeError: another thread holds it, or none."""
        if not self._is_held() or self._holder is not THREADS.current:
            raise RuntimeError("cannot release un-acquired lock")
        self._free += 1

    def _release_all(self) -> int:
        times, self._free = self._most - self._free, self._most
        return times

    def _take_again(self, times: int) -> None:
        self._holder = THREADS.current
        self._free -= times


class ThreadSemaphore(ThreadLock):
    """As ``threading.Semaphore``."""

    def __init__(self, value: int = 1) -> None:
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        self._most = value
        super().__init__()

    def release(self, n: int = 1) -> None:
        """Give it back."""
        self._free += n


class ThreadBoundedSemaphore(ThreadSemaphore):
    """As ``threading.BoundedSemaphore``."""

    def release(self, n: int = 1) -> None:
        """Give it back. Raises: ValueError: it is not held."""
        if self._free + n > self._most:
            raise ValueError("Semaphore released too many times")
        self._free += n


class ThreadEvent:
    """As ``threading.Event``."""

    def __init__(self) -> None:
        self._is_set = False

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._is_set

    def set(self) -> None:
        """Set it."""
        self._is_set = True

    def clear(self) -> None:
        """Clear it."""
        self._is_set = False

    @waiting
    def wait(self, timeout: float | None = None) -> Steps:
        """Wait until it is set, and return whether it is. Raises: RuntimeError: it would wait for ever."""
        if not self._is_set:
            yield Wait(self.is_set, _seconds(timeout), "the event is not set")
        return self._is_set


class ThreadCondition:
    """As ``threading.Condition``."""

    def __init__(self, lock: Any = None) -> None:
        if lock is not None and type(lock) not in (ThreadLock, ThreadRLock):
            raise TypeError("a Condition takes a threading.Lock or RLock")
        self._lock: ThreadLock = ThreadRLock() if lock is None else lock
        self._waiting: list[object] = []

    @waiting
    def acquire(self, blocking: bool = True, timeout: float = _FOREVER) -> Steps:
        """Take its lock."""
        return (yield from THREADS.call(self._lock.acquire, blocking, timeout))

    def release(self) -> None:
        """Give its lock back."""
        self._lock.release()

    def notify(self, n: int = 1) -> None:
        """Wake so many that wait. Raises: RuntimeError: the lock is not held."""
        self._require_held("notify on")
        del self._waiting[:n]

    def notify_all(self) -> None:
        """Wake all that wait. Raises: RuntimeError: the lock is not held."""
        self.notify(len(self._waiting))

    @waiting
    def wait(self, timeout: float | None = None) -> Steps:
        """Give the lock back, wait to be notified, and take it again. Returns whether one was.

        Raises: RuntimeError: the lock is not held; it would wait for ever.
        """
        self._require_held("wait on")
        seconds, place = _seconds(timeout), object()
        self._waiting.append(place)
        times = self._lock._release_all()
        try:
            came = yield Wait(lambda: place not in self._waiting, seconds, "the condition is not notified")
            if not self._lock._is_free():
                yield Wait(self._lock._is_free, None, "the condition's lock is held")
        finally:
            self._lock._take_again(times)
            if place in self._waiting:
                self._waiting.remove(place)
        return came

    @waiting
    def wait_for(self, predicate: Any, timeout: float | None = None) -> Steps:
        """Wait until the predicate is true, and return its value."""
        while not (value := (yield from THREADS.call(predicate))):
            if not (yield from THREADS.call(self.wait, timeout)):
                return predicate()
        return value

    def _require_held(self, doing: str) -> None:
        if not self._lock._is_held():
            raise RuntimeError(f"cannot {doing} un-acquired lock")

    def __enter__(self) -> bool:
        return self.acquire()  # type: ignore[no-any-return]

    def __exit__(self, *_: object) -> None:
        self.release()


class BrokenBarrierError(RuntimeError):
    """The barrier was broken while threads waited at it."""


class ThreadBarrier:
    """As ``threading.Barrier``."""

    def __init__(self, parties: int, action: Callable[[], object] | None = None, timeout: float | None = None) -> None:
        if parties < 1:
            raise ValueError("parties must be > 0")
        self.parties, self._action, self._timeout = parties, action, _seconds(timeout)
        self._rounds = 0
        self.n_waiting = 0
        self.broken = False

    @waiting
    def wait(self, timeout: float | None = None) -> Steps:
        """Wait until all parties are here, and return this one's number. Raises: BrokenBarrierError."""
        if self.broken:
            raise BrokenBarrierError
        number, this_round = self.n_waiting, self._rounds
        self.n_waiting += 1
        if self.n_waiting < self.parties:
            seconds = self._timeout if timeout is None else _seconds(timeout)
            came = yield Wait(lambda: self.broken or self._rounds > this_round, seconds, "a party is missing")
            if not came or self._rounds == this_round:
                self.abort()
                raise BrokenBarrierError
            return number
        if self._action is not None:
            try:
                ended = yield from THREADS.call(self._action)
            except Exception:
                self.abort()
                raise
            if type(ended) is EndedIteration:
                self.abort()
                return ended
        self._rounds, self.n_waiting = this_round + 1, 0
        return number

    def abort(self) -> None:
        """Break it: all that wait get an error."""
        self.broken = True

    def reset(self) -> None:
        """Make it as it was at first."""
        self.broken, self.n_waiting = False, 0


class ThreadLocal:
    """As ``threading.local``: attributes that each thread has for itself."""

    __slots__ = ("__weakref__", "_given", "_parts")

    def __new__(cls, *args: Any, **named: Any) -> ThreadLocal:
        made = super().__new__(cls)
        object.__setattr__(made, "_given", (args, named))
        object.__setattr__(made, "_parts", [(THREADS.current, {})])
        return made

    def __getattr__(self, name: str) -> Any:
        values = _values_of(self)
        if name not in values:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        _values_of(self)[name] = value

    def __delattr__(self, name: str) -> None:
        if _values_of(self).pop(name, _MISSING) is _MISSING:
            raise AttributeError(name)


_MISSING: Final = object()
_PARTS: Final[Any] = ThreadLocal.__dict__["_parts"].__get__
_GIVEN: Final[Any] = ThreadLocal.__dict__["_given"].__get__


def _values_of(local: ThreadLocal) -> dict[str, Any]:
    """The attributes of the thread that runs. As in Python, another thread begins with its own ``__init__``."""
    parts: list[tuple[Any, dict[str, Any]]] = _PARTS(local)
    for thread, values in parts:
        if thread is THREADS.current:
            return values
    own: dict[str, Any] = {}
    parts.append((THREADS.current, own))
    args, named = _GIVEN(local)
    type(local).__init__(local, *args, **named)
    return own


mark_class(ThreadLocal, shared=True)
ThreadLocal.__name__ = ThreadLocal.__qualname__ = "local"

WAITED_FOR: dict[str, object] = {
    "Barrier": ThreadBarrier,
    "BoundedSemaphore": ThreadBoundedSemaphore,
    "BrokenBarrierError": BrokenBarrierError,
    "Condition": ThreadCondition,
    "Event": ThreadEvent,
    "Lock": ThreadLock,
    "RLock": ThreadRLock,
    "Semaphore": ThreadSemaphore,
    "local": ThreadLocal,
}
"""Members of ``threading`` beside the threads themselves."""

BrokenBarrierError.__module__ = "threading"
_LOCKS: Final = (ThreadLock, ThreadRLock, ThreadSemaphore, ThreadBoundedSemaphore)
for _kind in (*_LOCKS, ThreadEvent, ThreadCondition, ThreadBarrier):
    _kind.__name__ = _kind.__name__.removeprefix("Thread")
    show_as("threading", _kind)


def refuse_copies(kind: type, held: str, hooks: Iterable[str] = ("__copy__", "__deepcopy__")) -> None:
    """Have the module ``copy`` refuse objects of a class, as Python cannot copy what they hold."""

    def refuse(_: object, *__: object) -> None:
        raise TypeError(f"cannot pickle '{held}' object")

    for hook in hooks:
        setattr(kind, hook, refuse)


refuse_copies(ThreadLock, "_thread.lock")
refuse_copies(ThreadRLock, "_thread.RLock")
refuse_copies(ThreadLocal, "_thread._local")
refuse_copies(SimpleQueue, "_queue.SimpleQueue")
refuse_copies(ThreadCondition, "_thread.RLock", ["__deepcopy__"])
for _holder in (ThreadEvent, ThreadBarrier, ThreadQueue):
    refuse_copies(_holder, "_thread.lock", ["__deepcopy__"])
ALLOWED_ATTRIBUTES |= dict.fromkeys(_LOCKS, split_names("acquire locked release"))
ALLOWED_ATTRIBUTES[ThreadEvent] = split_names("clear is_set set wait")
ALLOWED_ATTRIBUTES[ThreadCondition] = split_names("acquire notify notify_all release wait wait_for")
ALLOWED_ATTRIBUTES[ThreadBarrier] = split_names("abort broken n_waiting parties reset wait")


def enter(manager: Any) -> Steps:
    """The steps before a ``with`` over this context manager: until a lock can be taken at once."""
    lock: Any = manager._lock if type(manager) is ThreadCondition else manager
    if type(lock) in _LOCKS and not lock._is_free():
        yield Wait(lock._is_free, None, "it is held")
    return manager
