"""Untrusted values as plain or JSON data of bounded size, and the number of values in JSON text before it is parsed.

Parsed, the text ``[],[],[]`` takes twenty-five times its size in memory. So a maximum size in bytes is not enough.
What walks through the values recurses, so their depth is bounded too.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Final, NamedTuple, TypeGuard

from codeplan.errors import UsageError
from codeplan.untrusted.texts import with_article
from codeplan.untrusted.values import NotKnownType, SavedMember, fair_shares, type_name, whole_value_text

MAX_NESTING: Final = 200
"""Maximum nesting of lists and objects. Results may nest 40 deep; Python's stack has room for some 490."""

TOO_DEEP: Final = f"values nested deeper than {MAX_NESTING}"

_FEW: Final = 50  # a count that is too high by so little does no harm
_PIECE: Final = 64 << 10
_NESTING_CHANGES: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OTHER_BYTES: Final = bytes(b for b in range(256) if b not in _NESTING_CHANGES)


def is_too_deep(text: bytes) -> bool:
    """Whether lists and objects in the text are nested deeper than ``MAX_NESTING``. Takes linear time."""
    return text.count(b"[") + text.count(b"{") > MAX_NESTING and measure_json(text)[1]


def measure_json(text: bytes | bytearray) -> tuple[int, bool]:
    """At least as many as the values in the text, and not many more; and whether it ``is_too_deep``.

    Takes linear time.
    """
    most = 1 + _count_signs(text)
    if most <= _FEW:
        return most, False
    values, brackets = 1, []
    for piece in _without_strings(text):
        values += _count_signs(piece)
        brackets.append(piece.translate(None, _OTHER_BYTES))
    changes = map(_NESTING_CHANGES.__getitem__, b"".join(brackets))
    return values, values > MAX_NESTING and max(accumulate(changes), default=0) > MAX_NESTING


def has_more_values(text: bytes | bytearray, most: int) -> bool:
    """Whether the text holds more values. Fast if even its signs are few, or if the values come early."""
    if not may_have_more_values(text, most):
        return False
    return any(count > most for count in accumulate(map(_count_signs, _without_strings(text)), initial=1))


def may_have_more_values(text: bytes | bytearray, most: int) -> bool:
    """Whether the text may hold more values: commas and brackets within strings count too. Always fast."""
    return 1 + _count_signs(text) > most


class ValueLimit:
    """Counts down the values that all texts of a file may hold together, and refuses those nested too deep."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def check(self, text: bytes, where: str) -> None:
        """Count the next text; ``where`` is for the message. Raises: UsageError: too many values, or too deep."""
        values, too_deep = measure_json(text)
        if too_deep:
            raise UsageError(f"{where}: it holds {TOO_DEEP}")
        self._left -= values
        if self._left < 0:
            raise UsageError(f"{where}: the file holds more than {self._most:,} values up to here, which is too many")


def _without_strings(text: bytes | bytearray) -> Iterator[bytes]:
    """The text without its strings, in pieces: the gaps between all strings take many times the size of the text."""
    start, within = 0, False  # whether the piece begins within a string
    while start < len(text):
        piece = text[start : start + _PIECE].replace(rb"\\", b"")
        start += _PIECE + piece.endswith(b"\\")  # what a last backslash escapes is in the next piece
        parts = piece.replace(rb"\"", b"").split(b'"')
        yield b"".join(parts[within::2])
        within ^= len(parts) % 2 == 0


def _count_signs(text: bytes | bytearray) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")  # each begins at most one value


MAX_VALUES: Final = 20_000
"""Maximum number of values in one plain value, shared parts counted each time."""

MAX_PLAIN_DEPTH: Final = 32
"""Maximum nesting of a plain value."""

MAX_CHARS: Final = 1_000_000
"""Maximum length of all texts in one plain value, in characters, shared ones counted each time."""

_SCALARS: Final = frozenset({type(None), bool, float, NotKnownType})


class NotPlainValue(Exception):
    """Says why a value has no plain copy."""


class PlainVariables(NamedTuple):
    """Variables as plain data; ``omitted`` says why each of the others is missing."""

    values: dict[str, Any]
    omitted: dict[str, str]


def plain_variables(variables: Mapping[str, object]) -> PlainVariables:
    """The plain copies of variables. All of them together have the limits of four plain values."""
    values: dict[str, Any] = {}
    omitted: dict[str, str] = {}
    copier = _Copier(4 * MAX_VALUES, 4 * MAX_CHARS)
    for name, value in variables.items():
        try:
            values[name] = copier.copy(value)
        except NotPlainValue as reason:
            omitted[name] = str(reason)
    return PlainVariables(values, omitted)


class _Copier:
    """Copies values as trees of exact builtin types. The maximum of one value also counts towards the maximum of
    all.
    """

    def __init__(self, values: int, chars: int) -> None:
        self._all_values, self._all_chars = values, chars
        self._values = self._chars = 0

    def copy(self, value: object) -> Any:
        self._values, self._chars = min(MAX_VALUES, self._all_values), min(MAX_CHARS, self._all_chars)
        before = self._values, self._chars
        try:
            return self._copy(value, 0)
        finally:
            self._all_values -= before[0] - max(0, self._values)
            self._all_chars -= before[1] - max(0, self._chars)

    def _copy(self, value: Any, depth: int) -> Any:
        self._values -= 1
        kind = type(value)
        if self._values < 0:
            raise NotPlainValue("more values than plain data may have")
        if depth > MAX_PLAIN_DEPTH:
            raise NotPlainValue(f"it contains itself, or is nested deeper than {MAX_PLAIN_DEPTH}")
        if kind in _SCALARS:
            return value
        if kind is int:
            return self._take(value, value.bit_length() // 3)
        if kind is str or kind is bytes:
            return self._take(value, len(value))
        if kind is SavedMember:
            return self._take(str.__str__(value), len(value))
        return self._container(value, depth + 1)

    def _take(self, value: Any, chars: int) -> Any:
        self._chars -= chars
        if self._chars < 0:
            raise NotPlainValue("longer texts than plain data may have")
        return value

    def _container(self, value: Any, depth: int) -> Any:
        try:
            return self._copied(value, depth)
        except TypeError:  # a key that is an object of the plan became a dict
            raise NotPlainValue("a dict or a set whose keys are objects is no plain data") from None

    def _copied(self, value: Any, depth: int) -> Any:
        if isinstance(value, dict):
            return {self._copy(k, depth): self._copy(v, depth) for k, v in value.items()}
        if isinstance(value, list | deque):
            return self._all(value, depth)
        for kind in (tuple, set, frozenset):
            if isinstance(value, kind):
                return kind(self._all(value, depth))
        raise NotPlainValue(f"{with_article(type_name(value))} is no plain data")

    def _all(self, values: Iterable[Any], depth: int) -> list[Any]:
        return [self._copy(v, depth) for v in values]


MAX_DEPTH: Final = 40
_MAX_INT_BITS: Final = 10_000  # Python refuses to write ints of more than 4,300 digits in decimal
_INDENT: Final = 2
_BASE_INDENT: Final = 2 * _INDENT  # of a variable within the document
_SEPARATORS: Final = 2  # a comma and the line's end
_OMISSION_BYTES: Final = 70  # of a reason, with its punctuation


class JsonVariables(NamedTuple):
    """Variables as JSON data. Each value is whole; ``omitted`` maps the other variables to the reason.

    ``unnamed`` counts the variables whose names did not fit either.
    """

    values: dict[str, Any]
    omitted: dict[str, str]
    unnamed: int


def json_variables(variables: Mapping[str, object], max_bytes: int) -> JsonVariables:
    """The variables as JSON data, within ``max_bytes`` when printed in ASCII with an indentation of two blanks.

    Tuples become lists; values that JSON lacks become their Python notation. A variable is omitted if it takes more
    than its fair share of the bytes, contains itself, or is nested deeper than MAX_DEPTH.
    """
    names = _names_that_fit(variables, max_bytes // 2)
    reasons: dict[str, str] = {}

    def size(name: str, share: int) -> int | None:
        try:
            writer = _JsonWriter(share)
            writer.write(variables[name], 0)
        except _NotWholeError as e:
            reasons[name] = str(e)
            return None
        reasons.pop(name, None)
        return share - writer.room

    shares = fair_shares({name: name for name in names}, max_bytes - sum(map(_name_bytes, names)), size)
    values = {name: _JsonWriter(shares[name]).write(variables[name], 0) for name in names if name not in reasons}
    return JsonVariables(values, reasons, len(variables) - len(names))


def json_value(value: object, max_bytes: int) -> Any:
    """One value as JSON data, as in ``json_variables``; None if it does not fit."""
    return json_variables({"": value}, max_bytes).values.get("")


def matches_json(value: Any, expected: Any, depth: int = 0) -> bool:
    """Whether a variable equals JSON data. Shared parts of the variable do not increase the time.

    As in ``json_variables``, tuples match lists, and values that JSON lacks match their Python notation as text. Data
    nested deeper than MAX_DEPTH matches nothing.
    """
    if depth > MAX_DEPTH:
        return False
    if isinstance(expected, list):
        same_form = isinstance(value, list | tuple) and len(value) == len(expected)
        return same_form and all(matches_json(v, e, depth + 1) for v, e in zip(value, expected, strict=True))
    if isinstance(expected, dict):
        same_form = _has_json_keys(value) and value.keys() == expected.keys()
        return same_form and all(matches_json(value[k], e, depth + 1) for k, e in expected.items())
    if _is_json_scalar(value):
        return bool(value == expected)
    if not isinstance(expected, str) or isinstance(value, list | tuple) or _has_json_keys(value):
        return False
    try:
        return _foreign_text(value, len(expected)) == expected
    except _NotWholeError:
        return False


class _NotWholeError(Exception):
    """Says why a variable is omitted."""


_TOO_LARGE: Final = "larger than its share of the output"
_TOO_DEEP: Final = f"it contains itself, or is nested deeper than {MAX_DEPTH}"


class _JsonWriter:
    """Copies a value as a tree, and counts down the bytes that it takes."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _NotWholeError(_TOO_DEEP)
        if isinstance(value, list | tuple):
            return self._list(value, depth)
        if _has_json_keys(value):
            return self._dict(value, depth)
        if not _is_json_scalar(value):
            value = _foreign_text(value, self.room)
        self._take(_scalar_bytes(value, self.room))
        return value

    def _list(self, values: Iterable[Any], depth: int) -> list[Any]:
        written: list[Any] = []
        self._take(2)
        for value in values:
            self._take_line(depth)
            written.append(self.write(value, depth + 1))
        self._take_line(depth if written else 0)
        return written

    def _dict(self, values: dict[str, Any], depth: int) -> dict[str, Any]:
        written: dict[str, Any] = {}
        self._take(2)
        for key, value in values.items():
            self._take_line(depth)
            self._take(_scalar_bytes(key, self.room) + 2)
            written[key] = self.write(value, depth + 1)
        self._take_line(depth if written else 0)
        return written

    def _take_line(self, depth: int) -> None:
        self._take(_BASE_INDENT + _INDENT * (depth + 1) + _SEPARATORS)

    def _take(self, size: int) -> None:
        self.room -= size
        if self.room < 0:
            raise _NotWholeError(_TOO_LARGE)


def _foreign_text(value: object, most: int) -> str:
    """A value that JSON lacks, in Python's notation. Raises _NotWholeError."""
    if isinstance(value, int):
        if value.bit_length() > 4 * most:
            raise _NotWholeError(_TOO_LARGE)
        return hex(value)
    text = whole_value_text(value, most)
    if text is None:
        raise _NotWholeError(_TOO_LARGE)
    return text


def _scalar_bytes(value: Any, room: int) -> int:
    """The bytes of a scalar as JSON in ASCII; a text longer than ``room`` is not encoded."""
    return len(value) if isinstance(value, str) and len(value) > room else len(json.dumps(value))


def _has_json_keys(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict) and all(type(key) is str for key in value)


def _is_json_scalar(value: object) -> bool:
    if value is None or isinstance(value, bool | str):
        return True
    if isinstance(value, int):
        return value.bit_length() <= _MAX_INT_BITS
    return isinstance(value, float) and math.isfinite(value)


def _names_that_fit(variables: Mapping[str, object], room: int) -> list[str]:
    names: list[str] = []
    for name in variables:
        room -= _name_bytes(name)
        if room < 0:
            break
        names.append(name)
    return names


def _name_bytes(name: str) -> int:
    return len(name) * 12 + _OMISSION_BYTES if not name.isascii() else len(name) + _OMISSION_BYTES
