"""Modules in a form of their own: ``queue`` and ``threading`` without threads, ``warnings`` without a place to show
them, ``zlib`` and ``gzip`` with a bound, and ``email.utils`` without the machine.
"""

from __future__ import annotations

import datetime
import email._parseaddr as addresses  # type: ignore[import-not-found]
import heapq
import zlib
from collections import deque
from typing import Any

from codeplan.sandbox.runtime.attributes import ALLOWED_ATTRIBUTES
from codeplan.sandbox.runtime.class_modules import SimpleNamespace
from codeplan.sandbox.runtime.guards import MAX_TEXT, SizeGuard, set_name
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


class ThreadlessLock:
    """As ``threading.Lock``. A wait could never end, because no other thread releases it: it raises at once."""

    _most = 1
    _again = False

    def __init__(self) -> None:
        self._free = self._most

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it, and return whether that worked. Raises: RuntimeError: it would wait for ever."""
        if self._free <= 0 and not self._again:
            if not blocking or timeout >= 0:
                return False
            raise RuntimeError("it is held, and no other thread runs that could release it")
        self._free -= 1
        return True

    def release(self) -> None:
        """Give it back. Raises: RuntimeError: it is not held."""
        if self._free >= self._most:
            raise RuntimeError("release unlocked lock")
        self._free += 1

    def locked(self) -> bool:
        """Whether it is held."""
        return self._free <= 0

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class ThreadlessRLock(ThreadlessLock):
    """As ``threading.RLock``: its holder, which is always the plan, takes it again."""

    _again = True


class ThreadlessSemaphore(ThreadlessLock):
    """As ``threading.BoundedSemaphore``, and as ``threading.Semaphore`` but for its bound."""

    def __init__(self, value: int = 1) -> None:
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        self._most = value
        super().__init__()


class ThreadlessEvent:
    """As ``threading.Event``. A wait without a limit could never end: it raises at once."""

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

    def wait(self, timeout: float | None = None) -> bool:
        """Return whether it is set. Raises: RuntimeError: it would wait for ever."""
        if not self._is_set and timeout is None:
            raise RuntimeError("the event is not set, and no other thread runs that could set it")
        return self._is_set


class ThreadlessCondition:
    """As ``threading.Condition``. What it waits for is there, or a wait without a limit raises at once."""

    def __init__(self, lock: Any = None) -> None:
        self._lock = ThreadlessRLock() if lock is None else lock

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take its lock."""
        taken: bool = self._lock.acquire(blocking, timeout)
        return taken

    def release(self) -> None:
        """Give its lock back."""
        self._lock.release()

    def notify(self, n: int = 1) -> None:
        """Wake nobody: nobody waits."""

    def notify_all(self) -> None:
        """Wake nobody: nobody waits."""

    def wait(self, timeout: float | None = None) -> bool:
        """Return False. Raises: RuntimeError: it would wait for ever."""
        if timeout is None:
            raise RuntimeError("no other thread runs that could notify this condition")
        return False

    def wait_for(self, predicate: Any, timeout: float | None = None) -> Any:
        """Return what the predicate returns. Raises: RuntimeError: it would wait for ever."""
        return predicate() or self.wait(timeout)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


THREADING_MEMBERS: dict[str, object] = {
    "BoundedSemaphore": ThreadlessSemaphore,
    "Condition": ThreadlessCondition,
    "Event": ThreadlessEvent,
    "Lock": ThreadlessLock,
    "RLock": ThreadlessRLock,
    "Semaphore": ThreadlessSemaphore,
    "local": SimpleNamespace,
}
for _kind in (ThreadlessLock, ThreadlessRLock, ThreadlessSemaphore, ThreadlessEvent, ThreadlessCondition):
    _kind.__module__ = "threading"
    _kind.__name__ = _kind.__qualname__ = _kind.__name__.removeprefix("Threadless")
ALLOWED_ATTRIBUTES |= dict.fromkeys(
    (ThreadlessLock, ThreadlessRLock, ThreadlessSemaphore), split_names("acquire locked release")
)
ALLOWED_ATTRIBUTES[ThreadlessEvent] = split_names("clear is_set set wait")
ALLOWED_ATTRIBUTES[ThreadlessCondition] = split_names("acquire notify notify_all release wait wait_for")

_GZIP = 31
"""The ``wbits`` of zlib for gzip's header."""


def compression_members(size_guard: SizeGuard) -> dict[str, dict[str, object]]:
    """Return what plans get in place of members of ``zlib`` and ``gzip``, by module."""

    def decompress(data: Any, /, wbits: int = zlib.MAX_WBITS, bufsize: int = 0) -> bytes:
        work = zlib.decompressobj(wbits)
        found = work.decompress(data, MAX_TEXT + 1)
        size_guard.check_text(len(found))
        if not work.eof:
            raise zlib.error("Error -5 while decompressing data: incomplete or truncated stream")
        return found

    def unzip(data: Any) -> bytes:
        return decompress(data, _GZIP)

    def compress(data: Any, compresslevel: int = 9, *, mtime: Any = None) -> bytes:
        return zlib.compress(data, compresslevel, _GZIP)

    gzip: dict[str, object] = {"compress": set_name("compress", compress), "decompress": set_name("decompress", unzip)}
    return {"zlib": {"decompress": set_name("decompress", decompress)}, "gzip": gzip}


def mail_members() -> dict[str, object]:
    """Return the members of ``email.utils``: dates and addresses of mail, as texts."""

    def parsedate_to_datetime(data: str) -> datetime.datetime:
        parsed = addresses._parsedate_tz(data)
        if parsed is None:
            raise ValueError(f"Invalid date value or format {str(data)!r}")
        *parts, offset = parsed
        zone = None if offset is None else datetime.timezone(datetime.timedelta(seconds=offset))
        year, month, day, hour, minute, second = parts[:6]
        return datetime.datetime(year, month, day, hour, minute, second, tzinfo=zone)

    def format_datetime(dt: datetime.datetime, usegmt: bool = False) -> str:
        if usegmt and dt.tzinfo is not datetime.UTC:
            raise ValueError("usegmt option requires a UTC datetime")
        zone = "GMT" if usegmt else "-0000" if dt.tzinfo is None else dt.strftime("%z")
        return f"{_DAYS[dt.weekday()]}, {dt.day:02d} {_MONTHS[dt.month - 1]} {dt.year:04d} {dt:%H:%M:%S} {zone}"

    def getaddresses(fieldvalues: Any, *, strict: bool = True) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = addresses.AddressList(", ".join(map(str, fieldvalues))).addresslist
        return found

    def parseaddr(addr: Any, *, strict: bool = True) -> tuple[str, str]:
        found = addresses.AddressList(str(addr)).addresslist
        return found[0] if found else ("", "")

    def formataddr(pair: Any) -> str:
        name, address = pair
        if not name:
            return str(address)
        if not name.isascii():
            raise ValueError("formataddr takes names in ASCII here")
        escaped = name.replace("\\", "\\\\").replace('"', '\\"')
        quotes = '"' if any(c in _SPECIAL for c in name) else ""
        return f"{quotes}{escaped}{quotes} <{address}>"

    functions: tuple[Any, ...] = (parsedate_to_datetime, format_datetime, getaddresses, parseaddr, formataddr)
    own = {name: getattr(addresses, name) for name in ("mktime_tz", "parsedate", "parsedate_tz", "quote")}
    return own | {function.__name__: set_name(function.__name__, function) for function in functions}


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SPECIAL = frozenset('()<>@,:;".[]\\')
