"""Copies a plan's values as plain data of bounded size: safe to compare, print and write as JSON."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from codeplan.untrusted.noun_phrases import with_article
from codeplan.untrusted.scalars import type_name

MAX_VALUES: Final = 20_000
"""Maximum number of values in one plain value, shared parts counted each time."""

MAX_DEPTH: Final = 32
"""Maximum nesting of a plain value."""

MAX_CHARS: Final = 1_000_000
"""Maximum length of all texts in one plain value, in characters, shared ones counted each time."""

_SCALARS: Final = frozenset({type(None), bool, float})


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
        if depth > MAX_DEPTH:
            raise NotPlainValue(f"it contains itself, or is nested deeper than {MAX_DEPTH}")
        if kind in _SCALARS:
            return value
        if kind is int:
            return self._take(value, value.bit_length() // 3)
        if kind is str or kind is bytes:
            return self._take(value, len(value))
        return self._container(value, depth + 1)

    def _take(self, value: Any, chars: int) -> Any:
        self._chars -= chars
        if self._chars < 0:
            raise NotPlainValue("longer texts than plain data may have")
        return value

    def _container(self, value: Any, depth: int) -> Any:
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
