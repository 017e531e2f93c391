"""Counts the values in JSON text, and how deep they are nested, before it is parsed.

Parsed, the text ``[],[],[]`` takes twenty-five times its size in memory. So a maximum size in bytes is not enough.
What walks through the values recurses, so their depth is bounded too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from codeplan.errors import UsageError

MAX_NESTING: Final = 200
"""Maximum nesting of lists and objects. Results may nest 40 deep; Python's stack has room for some 490."""

TOO_DEEP: Final = f"values nested deeper than {MAX_NESTING}"

_FEW: Final = 50  # a count that is too high by so little does no harm
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_TOKENS: Final = re.compile(rb'(?:[^"]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
"""The longest start of a text that does not end within a string."""

_PIECE: Final = 64 << 10
_NESTING_CHANGES: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OTHER_BYTES: Final = bytes(b for b in range(256) if b not in _NESTING_CHANGES)


def count_values(text: bytes | bytearray) -> int:
    """At least as many as the values in the text, and not many more. Takes linear time."""
    most = 1 + _count_signs(text)
    return most if most <= _FEW else 1 + sum(map(_count_signs, _without_strings(text)))


def is_too_deep(text: bytes) -> bool:
    """Whether lists and objects in the text are nested deeper than ``MAX_NESTING``. Takes linear time."""
    if text.count(b"[") + text.count(b"{") <= MAX_NESTING:
        return False
    brackets = b"".join(_without_strings(text)).translate(None, _OTHER_BYTES)
    return max(accumulate(map(_NESTING_CHANGES.__getitem__, brackets)), default=0) > MAX_NESTING


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
        if is_too_deep(text):
            raise UsageError(f"{where}: it holds {TOO_DEEP}")
        self._left -= count_values(text)
        if self._left < 0:
            raise UsageError(f"{where}: the file holds more than {self._most:,} values up to here, which is too many")


def _without_strings(text: bytes | bytearray) -> Iterator[bytes]:
    """The text without its strings, in pieces: the gaps between all strings take many times the size of the text."""
    start = 0
    while start < len(text):
        whole = _TOKENS.match(text, start, start + _PIECE)
        if whole and whole.end() > start:
            yield _STRING.sub(b"", text[start : whole.end()])
        else:  # a string that is longer than a piece, or has no end
            whole = _STRING.match(text, start)
        start = whole.end() if whole else len(text)


def _count_signs(text: bytes | bytearray) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")  # each begins at most one value
