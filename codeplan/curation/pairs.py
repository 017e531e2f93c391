"""Tasks that were played twice, with something and without it, and what that shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from codeplan.statistics import RateDifference, mcnemar_exact, paired_difference
from codeplan.types.value import Value

PairOutcome: TypeAlias = tuple[bool, bool]
"""Success with it, and without."""


class PairedResult(Value, frozen=True, kw_only=True):
    """Of ``pairs``, ``solved`` were solved with it, ``plain_solved`` without; ``wins`` with it alone, ``losses``
    without it alone.

    ``p`` is McNemar's exact p (two-sided), right where the number of pairs was fixed; ``difference`` that of the
    success rates, with its interval.
    """

    pairs: int
    solved: int
    baseline_solved: int
    wins: int
    losses: int
    p_value: float
    difference: RateDifference


def count_discordant(pairs: Sequence[PairOutcome]) -> tuple[int, int]:
    """The wins and the losses."""
    return sum(w and not p for w, p in pairs), sum(p and not w for w, p in pairs)


def summarise_pairs(pairs: Sequence[PairOutcome]) -> PairedResult:
    """What the pairs show."""
    wins, losses = count_discordant(pairs)
    return PairedResult(
        pairs=len(pairs),
        solved=sum(w for w, _ in pairs),
        baseline_solved=sum(p for _, p in pairs),
        wins=wins,
        losses=losses,
        p_value=mcnemar_exact(losses, wins),
        difference=paired_difference(losses, wins, len(pairs)),
    )
