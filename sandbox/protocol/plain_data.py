"""What goes into a study and what comes out of it: plain data, and not too much of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

MAX_ANALYSIS_BYTES: Final = 2 << 20
"""Bytes of what a study may find, and of the arguments that it may be given, as they travel."""

_MAX_VALUES: Final = 200_000
_MAX_DEPTH: Final = 64
_INT64_BOUND: Final = 2**63
_PLAIN_TYPES: Final = (type(None), bool, int, float, str, list, dict)


def find_non_plain(value: object) -> str | None:
    """What in a value is not plain data, or too much of it; None where all is well.

    Plain are None, bool, int of 64 bits, finite float, text, list, and dict with texts as keys, in their exact types.
    """
    level, count = [value], 0
    for _ in range(_MAX_DEPTH):
        count += len(level)
        if count > _MAX_VALUES:
            return f"more than {_MAX_VALUES:,} values"
        problem = next((p for p in map(_problem, level) if p), None)
        if problem is not None:
            return problem
        level = [part for v in level for part in _parts(v)]
        if not level:
            return None
    return f"values nested deeper than {_MAX_DEPTH}"


def _problem(value: object) -> str | None:
    if type(value) not in _PLAIN_TYPES:
        return f"a {type(value).__name__}"
    if isinstance(value, dict) and not all(type(key) is str for key in value):
        return "a dict whose keys are not texts"
    return None if _can_travel(value) else f"a {type(value).__name__} that cannot travel"


def _can_travel(value: object) -> bool:
    if isinstance(value, int):
        return -_INT64_BOUND <= value < _INT64_BOUND
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, str) or value.isascii() or value == value.encode("utf-8", "ignore").decode()


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, list):
        yield from value
    elif isinstance(value, dict):
        yield from value
        yield from value.values()
