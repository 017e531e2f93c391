"""Counts of episodes by kind of task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from codeplan.statistics import wilson_interval
from codeplan.types import NO_USAGE, Result


class KindSummary(msgspec.Struct, frozen=True):
    """One kind of task: the number of episodes, and sums over them.

    ``low`` and ``high`` are the success rate's 95 % Wilson interval. Tokens and ``money`` (US dollars) are None if an
    episode's value is unknown. ``cached_share`` is the part of all input that came from endpoints' caches, from 0 to
    1; None if the input is unknown or empty. ``reused_replies`` counts the calls that the user's own cache answered.
    """

    kind: str
    episodes: int
    successes: int
    actions: int
    asks: int
    refinements: int
    model_calls: int
    seconds: float
    reasons: dict[str, int]
    low: float = 0.0
    high: float = 1.0
    tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    money: float | None = None
    cached_share: float | None = None
    reused_replies: int = 0


def summarise_results(results: Sequence[Result]) -> list[KindSummary]:
    """Return one row per kind in order of first appearance, then one for all, of kind ``"all"``."""
    kinds = list(dict.fromkeys(r.task.kind for r in results))
    return [_row(k, [r for r in results if r.task.kind == k]) for k in kinds] + [_row("all", results)]


def _row(kind: str, results: Sequence[Result]) -> KindSummary:
    successes = sum(r.success for r in results)
    usage = sum((r.usage for r in results), NO_USAGE)
    return KindSummary(
        kind,
        len(results),
        successes,
        sum(r.actions for r in results),
        sum(r.asks for r in results),
        sum(r.refinements for r in results),
        sum(r.model_calls for r in results),
        sum(r.seconds for r in results),
        dict(Counter(r.reason for r in results)),
        *wilson_interval(successes, len(results)),
        usage.total_tokens,
        usage.input_tokens,
        usage.output_tokens,
        usage.money,
        usage.cached_share,
        usage.reused_replies,
    )
