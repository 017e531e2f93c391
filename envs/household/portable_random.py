"""Random draws that are the same on every platform, Python version and hash seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class PortableRandom:
    """Random draws from a seed text.

    It uses only the float stream of ``random.Random``, which Python's documentation fixes. How ``choice``, ``sample``
    and ``shuffle`` use that stream has changed between versions.
    """

    def __init__(self, seed_text: str) -> None:
        self._draw = random.Random(seed_text).random

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._draw() < probability

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to ``bound - 1``."""
        return int(self._draw() * bound)

    def between(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def pick(self, values: Sequence[T]) -> T:
        """Return one of the values, all equally likely."""
        return values[self.below(len(values))]

    def pick_favouring_early(self, values: Sequence[T]) -> T:
        """Return one of the values, with the weights n, n-1, ..., 1."""
        at = self.below(len(values) * (len(values) + 1) // 2)
        for i in range(len(values)):
            at -= len(values) - i
            if at < 0:
                return values[i]
        return values[-1]

    def permutation(self, values: Sequence[T]) -> list[T]:
        """Return the values in random order."""
        mixed = list(values)
        for i in range(len(mixed) - 1, 0, -1):
            j = self.below(i + 1)
            mixed[i], mixed[j] = mixed[j], mixed[i]
        return mixed
