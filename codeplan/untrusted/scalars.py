"""Shows values without parts, such as texts and numbers, in bounded size."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from codeplan.untrusted.noun_phrases import with_article

ELLIPSIS: Final = "…"
"""Replaces an omitted part."""

MAX_TYPE_NAME: Final = 60
"""Maximum length of the name of a type, in characters."""

_NAME_OF: Final = type.__dict__["__name__"].__get__
_MAX_INT_BITS: Final = 4_000  # Python refuses to write ints of more than 4,300 digits in decimal


def scalar_text(value: Any, room: int, max_string: int | None) -> str:
    """A value without parts as text, not much longer than ``room``. This alone may call ``__repr__``."""
    if isinstance(value, str):
        return _string_text(str.__str__(value), room, max_string, str.__repr__)
    if isinstance(value, bytes):
        return _string_text(bytes.__getitem__(value, slice(None)), room, max_string, bytes.__repr__)
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        bits = int.bit_length(value)
        return int.__repr__(value) if bits <= _MAX_INT_BITS else f"<an int of {bits:,} bits>"
    if isinstance(value, float):
        return float.__repr__(value)
    return f"<{with_article(type_name(value))}>"


def _string_text(value: Any, room: int, max_string: int | None, notation: Callable[[Any], str]) -> str:
    most = room if max_string is None else min(room, max_string)
    if len(value) <= most:
        return notation(value)
    return notation(value[:most]) + ELLIPSIS


def is_abbreviated(value: object, max_string: int | None) -> bool:
    """Whether a scalar's text is abbreviated for a reason other than the room."""
    if isinstance(value, int):
        return int.bit_length(value) > _MAX_INT_BITS
    if isinstance(value, str):
        return max_string is not None and str.__len__(value) > max_string
    return max_string is not None and isinstance(value, bytes) and bytes.__len__(value) > max_string


def type_name(value: object) -> str:
    """The name of a value's type, in printable characters."""
    return class_name(type(value))


def class_name(cls: type) -> str:
    """A class's name, in printable characters. It is the real one, whatever the class's own class says."""
    name: str = _NAME_OF(cls)[:MAX_TYPE_NAME]
    return name if name.isprintable() else "value"


def iterate_scalars(value: object) -> Iterator[object]:
    """Every value without parts that ``value`` contains, keys included; each container is visited once."""
    seen: set[int] = set()
    waiting: list[Any] = [value]
    while waiting:
        current = waiting.pop()
        if not isinstance(current, list | tuple | set | frozenset | deque | dict):
            yield current
        elif id(current) not in seen:
            seen.add(id(current))
            waiting.extend(current)
            if isinstance(current, dict):
                waiting.extend(dict.values(current))
