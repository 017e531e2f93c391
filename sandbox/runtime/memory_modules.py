"""``queue`` in memory, and ``warnings`` without a place to show them."""

from __future__ import annotations

import heapq
from collections import deque
from typing import Any

from codeplan.sandbox.runtime.attributes import ALLOWED_ATTRIBUTES
from codeplan.sandbox.runtime.class_modules import SimpleNamespace
from codeplan.sandbox.runtime.guards import set_name
from codeplan.sandbox.runtime.module_names import split_names


class Empty(Exception):
    """``get`` found nothing."""


class Full(Exception):
    """``put`` found no room."""


Empty.__module__ = Full.__module__ = "queue"


class ThreadlessQueue:
    """As ``queue.Queue``. A wait could never end, because no other thread fills or empties it: it raises at once."""

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

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Add an item. Raises: Full; RuntimeError: it would wait for ever."""
        if self.full():
            raise _error_of_wait(Full, "full", block, timeout)
        self._add(item)
        self._unfinished += 1

    def put_nowait(self, item: Any) -> None:
        """Add an item. Raises: Full."""
        self.put(item, block=False)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Take the next item. Raises: Empty; RuntimeError: it would wait for ever."""
        if not self._items:
            raise _error_of_wait(Empty, "empty", block, timeout)
        return self._take()

    def get_nowait(self) -> Any:
        """Take the next item. Raises: Empty."""
        return self.get(block=False)

    def task_done(self) -> None:
        """Say that an item was dealt with. Raises: ValueError: more often than there were items."""
        if not self._unfinished:
            raise ValueError("task_done() called too many times")
        self._unfinished -= 1

    def join(self) -> None:
        """Return if all items were dealt with. Raises: RuntimeError: it would wait for ever."""
        if self._unfinished:
            raise RuntimeError(f"{self._unfinished} items were not dealt with, and no other thread runs")

    def _add(self, item: Any) -> None:
        self._items.append(item)

    def _take(self) -> Any:
        return self._items.popleft()


def _error_of_wait(kind: type[Exception], state: str, block: bool, timeout: float | None) -> Exception:
    if not block or timeout is not None:
        return kind()
    return RuntimeError(f"the queue is {state}, and no other thread runs that could change it")


ThreadlessQueue.__name__ = ThreadlessQueue.__qualname__ = "Queue"


class LifoQueue(ThreadlessQueue):
    """As ``queue.LifoQueue``."""

    def _take(self) -> Any:
        return self._items.pop()


class PriorityQueue(ThreadlessQueue):
    """As ``queue.PriorityQueue``."""

    def __init__(self, maxsize: int = 0) -> None:
        super().__init__(maxsize)
        self._items = []

    def _add(self, item: Any) -> None:
        heapq.heappush(self._items, item)

    def _take(self) -> Any:
        return heapq.heappop(self._items)


class SimpleQueue(ThreadlessQueue):
    """As ``queue.SimpleQueue``."""

    def __init__(self) -> None:
        super().__init__()


QUEUE_MEMBERS: dict[str, object] = {
    kind.__name__: kind for kind in (Empty, Full, LifoQueue, PriorityQueue, SimpleQueue, ThreadlessQueue)
}

_METHODS = split_names("empty full get get_nowait join maxsize put put_nowait qsize task_done")
ALLOWED_ATTRIBUTES |= dict.fromkeys((ThreadlessQueue, LifoQueue, PriorityQueue, SimpleQueue), _METHODS)


class CaughtWarnings:
    """As ``warnings.catch_warnings``: with ``record=True``, the warnings inside are in the list that it gives."""

    def __init__(self, lists: list[list[object]], *, record: bool = False, **_: object) -> None:
        self._lists, self._record = lists, record

    def __enter__(self) -> list[object] | None:
        self._lists.append([])
        return self._lists[-1] if self._record else None

    def __exit__(self, *_: object) -> None:
        self._lists.pop()


def warnings_members() -> dict[str, object]:
    """Return the members of ``warnings``. Nobody sees a warning but the list of ``catch_warnings``."""
    lists: list[list[object]] = []

    def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **_: Any) -> None:
        made = message if issubclass(type(message), Warning) else (category or UserWarning)(message)
        if lists:
            lists[-1].append(SimpleNamespace(message=made, category=type(made)))

    def catch_warnings(**options: Any) -> CaughtWarnings:
        return CaughtWarnings(lists, **options)

    ignored = {name: set_name(name, lambda *_, **__: None) for name in _FILTERS}
    return {"warn": set_name("warn", warn), "catch_warnings": set_name("catch_warnings", catch_warnings), **ignored}


_FILTERS = ("filterwarnings", "resetwarnings", "simplefilter")
