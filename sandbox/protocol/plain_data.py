"""Decides whether a value is plain data: exact builtin types only, within limits of size and depth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

from codeplan.plain_data import MAX_DEPTH, MAX_VALUES
from codeplan.untrusted.texts import with_article
from codeplan.untrusted.values import NotKnown


class PlainDataRules(NamedTuple):
    """What counts as plain data: None, bool, int, float, str, list, tuple, and dict with texts as keys.

    ``json_only`` excludes tuples, ints of more than 64 bits, infinite floats and texts that are not valid Unicode.
    """

    max_depth: int
    max_values: int
    json_only: bool


ARGUMENT_RULES: Final = PlainDataRules(max_depth=MAX_DEPTH, max_values=MAX_VALUES, json_only=False)
"""Rules for one argument that a plan passes to the agent."""

ANALYSIS_RULES: Final = PlainDataRules(max_depth=64, max_values=200_000, json_only=True)
"""Rules for the arguments and the findings of an analysis."""

MAX_ANALYSIS_BYTES: Final = 2 << 20  # maximum size of the arguments and of the findings of an analysis, packed
_INT64_BOUND: Final = 2**63
_SCALAR_TYPES: Final = (type(None), bool, int, float, str)
_PLAIN_TYPES: Final = (*_SCALAR_TYPES, list, dict)


def find_non_plain(value: object, rules: PlainDataRules) -> str | None:
    """The first thing in ``value`` that breaks the rules, in words that follow "holds"; None if it is plain data."""
    if type(value) in _SCALAR_TYPES and not rules.json_only:  # the usual case for arguments
        return None
    level, count = [value], 0
    for _ in range(rules.max_depth):
        count += len(level)
        if count > rules.max_values:
            return f"more than {rules.max_values:,} values"
        problem = next((p for v in level if (p := _problem(v, rules))), None)
        if problem is not None:
            return problem
        level = list(islice(chain.from_iterable(map(_parts, level)), rules.max_values + 1))
        if not level:
            return None
    return f"values nested deeper than {rules.max_depth}"


def _problem(value: object, rules: PlainDataRules) -> str | None:
    if value is NotKnown:
        return "NotKnown (test `x is NotKnown` before the call)"
    kind = type(value)
    if kind not in _PLAIN_TYPES and (kind is not tuple or rules.json_only):
        return with_article(kind.__name__)
    if isinstance(value, dict) and not all(type(key) is str for key in value):
        return "a dict whose keys are not texts"
    return None if not rules.json_only or _fits_json(value) else f"{with_article(kind.__name__)} that JSON cannot carry"


def _fits_json(value: object) -> bool:
    if isinstance(value, int):
        return -_INT64_BOUND <= value < _INT64_BOUND
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, str) or value.isascii() or value == value.encode("utf-8", "ignore").decode()


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, list | tuple):
        yield from value
    elif isinstance(value, dict):
        yield from value
        yield from value.values()
