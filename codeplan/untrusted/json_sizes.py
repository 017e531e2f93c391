"""Counts the values in JSON text before it is parsed.

Parsed, the text ``[],[],[]`` takes twenty-five times its size in memory. So a maximum size in bytes is not enough.
"""

from __future__ import annotations

import re
from typing import Final

from codeplan.errors import UsageError

_FEW: Final = 50  # a count that is too high by so little does no harm
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


def count_values(text: bytes) -> int:
    """At least as many as the values in the text, and not many more. Takes linear time."""
    most = _count_signs(text)
    return most if most <= _FEW else _count_signs(_STRING.sub(b"", text))


class ValueLimit:
    """Counts down the values that all texts of a file may hold together."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def check(self, text: bytes, where: str) -> None:
        """Count the next text; ``where`` is for the message. Raises: UsageError: the texts hold too many values."""
        self._left -= count_values(text)
        if self._left < 0:
            raise UsageError(f"{where}: the file holds more than {self._most:,} values up to here, which is too many")


def _count_signs(text: bytes) -> int:
    return 1 + text.count(b",") + text.count(b"[") + text.count(b"{")  # each begins at most one value
