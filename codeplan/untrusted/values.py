"""A value that a plan built as text, in bounded time and size.

Through aliases a small checkpoint can stand for an endless value. So the text is written up to a limit and never
measured first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

_MAX_DEPTH = 30
_MAX_BITS = 4000
_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}


def value_text(value: object, max_characters: int) -> str:
    """The value in Python's notation, up to ``max_characters``; an ellipsis stands for the rest."""
    writer = _Writer(max_characters)
    try:
        writer.write(value, 0)
    except _Full:
        writer.parts.append("…")
    return "".join(writer.parts)


class _Full(Exception):
    """The text reached its limit."""


class _Writer:
    """Writes values into ``parts`` until the room is used up."""

    def __init__(self, room: int) -> None:
        self.parts: list[str] = []
        self._room = room

    def write(self, value: Any, depth: int) -> None:
        kind = type(value)
        if depth > _MAX_DEPTH:
            self._put("…")
        elif isinstance(value, dict):
            self._mapping(value, depth)
        elif kind in _BRACKETS and value:
            self._series(_BRACKETS[kind][0], value, _BRACKETS[kind][1], depth)
        elif isinstance(value, deque):
            self._series("deque([", value, "])", depth)
        else:
            self._put(self._scalar(value))

    def _scalar(self, value: object) -> str:
        if isinstance(value, str | bytes):
            return repr(value[: self._room + 1])
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            return hex(value)  # Python refuses to write this many decimal digits
        return repr(value)

    def _series(self, opening: str, values: Iterable[Any], closing: str, depth: int) -> None:
        self._put(opening)
        count = 0
        for count, value in enumerate(values, 1):
            self._put(", " if count > 1 else "")
            self.write(value, depth + 1)
        self._put(",)" if count == 1 and closing == ")" else closing)

    def _mapping(self, values: dict[Any, Any], depth: int) -> None:
        kind = type(values).__name__
        self._put("{" if kind == "dict" else f"{kind}({{")
        for count, (key, value) in enumerate(values.items()):
            self._put(", " if count else "")
            self.write(key, depth + 1)
            self._put(": ")
            self.write(value, depth + 1)
        self._put("}" if kind == "dict" else "})")

    def _put(self, text: str) -> None:
        if len(text) > self._room:
            self.parts.append(text[: self._room])
            raise _Full
        self._room -= len(text)
        self.parts.append(text)
