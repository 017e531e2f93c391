"""Tasks that were played twice, with something and without it, and what that shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from codeplan.statistics import Difference, mcnemar_exact, paired_difference
from codeplan.types import Value

Pair: TypeAlias = tuple[bool, bool]
"""Success with it, and without."""


class Paired(Value, frozen=True, kw_only=True):
    """Of ``pairs``, ``solved`` were solved with it, ``plain_solved`` without; ``wins`` with it alone, ``losses``
    without it alone.

    ``p`` is McNemar's exact p (two-sided), right where the number of pairs was fixed; ``difference`` that of the
    success rates, with its interval.
    """

    pairs: int
    solved: int
    plain_solved: int
    wins: int
    losses: int
    p: float
    difference: Difference


def discordant(pairs: Sequence[Pair]) -> tuple[int, int]:
    """The wins and the losses."""
    return sum(w and not p for w, p in pairs), sum(p and not w for w, p in pairs)


def paired(pairs: Sequence[Pair]) -> Paired:
    """What the pairs show."""
    wins, losses = discordant(pairs)
    return Paired(
        pairs=len(pairs),
        solved=sum(w for w, _ in pairs),
        plain_solved=sum(p for _, p in pairs),
        wins=wins,
        losses=losses,
        p=mcnemar_exact(losses, wins),
        difference=paired_difference(losses, wins, len(pairs)),
    )
