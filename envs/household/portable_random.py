"""Chance that falls alike everywhere: on every platform, Python version and hash seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class PortableRandom:
    """Draws that follow from a text alone.

    Only ``random.Random``'s stream of floats is used: it is fixed by Python's documentation, while the ways in which
    ``choice``, ``sample`` and ``shuffle`` draw from it have changed between versions.
    """

    def __init__(self, seed_text: str) -> None:
        self._draw = random.Random(seed_text).random

    def chance(self, probability: float) -> bool:
        """True this often."""
        return self._draw() < probability

    def below(self, bound: int) -> int:
        """A whole number from 0 to ``bound - 1``."""
        return int(self._draw() * bound)

    def between(self, low: int, high: int) -> int:
        """A whole number from ``least`` to ``greatest``, both included."""
        return low + self.below(high - low + 1)

    def pick(self, values: Sequence[T]) -> T:
        """One of the values, each as likely."""
        return values[self.below(len(values))]

    def pick_favouring_early(self, values: Sequence[T]) -> T:
        """One of the values, each more likely than the next one: weights n, n-1, ..., 1."""
        at = self.below(len(values) * (len(values) + 1) // 2)
        for i in range(len(values)):
            at -= len(values) - i
            if at < 0:
                return values[i]
        return values[-1]

    def permutation(self, values: Sequence[T]) -> list[T]:
        """The values in another order."""
        mixed = list(values)
        for i in range(len(mixed) - 1, 0, -1):
            j = self.below(i + 1)
            mixed[i], mixed[j] = mixed[j], mixed[i]
        return mixed
