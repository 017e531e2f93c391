"""Modules in a form of their own: ``warnings`` without a place to show them, ``zlib`` and ``gzip`` with a bound, and
``email.utils`` without the machine.
"""

from __future__ import annotations

import datetime
import email._parseaddr as addresses  # type: ignore[import-not-found]
import re
import zlib
from typing import Any, NamedTuple

from codeplan.sandbox.runtime.class_modules import SimpleNamespace
from codeplan.sandbox.runtime.classes import is_class
from codeplan.sandbox.runtime.guards import MAX_TEXT, SizeGuard, set_name
from codeplan.untrusted.texts import with_article


class WarningFilter(NamedTuple):
    """What happens to warnings of a category whose text begins as the pattern says."""

    action: str
    category: Any
    begins: re.Pattern[str]


class WarningLevel(NamedTuple):
    """Where warnings go, and the filters in force, the newest first."""

    caught: list[object]
    filters: list[WarningFilter]


class CaughtWarnings:
    """As ``warnings.catch_warnings``: with ``record=True``, the warnings inside are in the list that it gives."""

    def __init__(self, levels: list[WarningLevel], *, record: bool = False, **_: object) -> None:
        self._levels, self._record = levels, record

    def __enter__(self) -> list[object] | None:
        self._levels.append(WarningLevel([], [*self._levels[-1].filters]))
        return self._levels[-1].caught if self._record else None

    def __exit__(self, *_: object) -> None:
        self._levels.pop()


def warnings_members() -> dict[str, object]:
    """Return the members of ``warnings``. Nobody sees a warning but the list of ``catch_warnings``."""
    levels = [WarningLevel([], [])]

    def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **_: Any) -> None:
        kind = UserWarning if category is None else category
        if not (is_class(kind) and issubclass(kind, Warning)):
            raise TypeError(f"category must be a Warning subclass, not {type(kind).__name__!r}")
        made = message if issubclass(type(message), Warning) else kind(message)
        if not issubclass(type(made), Warning):  # what a plan's __new__ made: its type could be the runtime's
            raise TypeError(f"category must make a warning, not {with_article(type(made).__name__)}")
        level, text = levels[-1], str(made)
        fitting = (each for each in level.filters if isinstance(made, each.category) and each.begins.match(text))
        action = next(fitting, _ALWAYS).action
        if action == "error":
            raise made
        if action != "ignore" and len(levels) > 1:
            level.caught.append(SimpleNamespace(message=made, category=type(made)))

    def catch_warnings(**options: Any) -> CaughtWarnings:
        return CaughtWarnings(levels, **options)

    def simplefilter(action: Any, category: Any = Warning, lineno: Any = 0, append: Any = False) -> None:
        filterwarnings(action, "", category, append=append)

    def filterwarnings(
        action: Any, message: Any = "", category: Any = Warning, module: Any = "", lineno: Any = 0, append: Any = False
    ) -> None:
        if action not in _ACTIONS:
            raise AssertionError(f"invalid action: {action!r}")
        made = WarningFilter(str(action), category, re.compile(str(message), re.IGNORECASE))
        levels[-1].filters.insert(len(levels[-1].filters) if append else 0, made)

    def resetwarnings() -> None:
        levels[-1].filters.clear()

    functions = (warn, catch_warnings, simplefilter, filterwarnings, resetwarnings)
    return {function.__name__: set_name(function.__name__, function) for function in functions}


_ACTIONS = ("error", "ignore", "always", "default", "module", "once")
_ALWAYS = WarningFilter("always", Warning, re.compile(""))


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
