"""Results of tasks that ran in pairs, with and without a skill or a library, and their statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from codeplan.statistics import RateDifference, mcnemar_exact, paired_difference
from codeplan.types import Value

PairOutcome: TypeAlias = tuple[bool, bool]
"""Success with the skill or library, and without it."""


class PairedResult(Value, frozen=True, kw_only=True):
    """Of ``pairs``, ``solved`` were solved with it and ``baseline_solved`` without; ``wins`` only with it, ``losses``
    only without.

    ``p_value`` is McNemar's exact p (two-sided), valid for a fixed number of pairs; ``difference`` is that of the
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
    """Return the wins and the losses."""
    return sum(w and not p for w, p in pairs), sum(p and not w for w, p in pairs)


def summarise_pairs(pairs: Sequence[PairOutcome]) -> PairedResult:
    """Return what the pairs show."""
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
