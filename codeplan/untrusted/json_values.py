"""Shows a plan's variables as JSON data of bounded size, and compares a variable with expected JSON data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeGuard

from codeplan.untrusted.values import whole_value_text
from codeplan.untrusted.variables import fair_shares

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
