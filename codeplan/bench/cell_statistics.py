"""Statistics of a bench's cells, by kind of task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, islice

from codeplan.bench.episode_measures import EpisodeMeasures, MeasuredEpisode, sum_if_known
from codeplan.bench.grid import BenchCell
from codeplan.bench.metrics import METRICS, MetricEstimate, estimate_metric
from codeplan.statistics import pass_at_k, wilson_interval
from codeplan.types import Value

MAX_ATTEMPTS = 100
"""Success by attempt, and pass@k, go up to this number of attempts."""


class CellStatistics(Value, frozen=True):
    """A kind of task in one cell: the success rate with its 95 % Wilson interval, and metrics by name.

    ``inadmissible`` is a share of all actions. ``pass_at_k`` holds pass@k for k from 1: the unbiased mean over the
    tasks with at least k episodes. ``by_attempt`` holds, for k from 1, the share of the episodes solved within k
    attempts (``EpisodeMeasures.renewed_attempts``), up to the last attempt of any of them. Both end at
    ``MAX_ATTEMPTS``.
    """

    cell: str
    kind: str
    episodes: int
    successes: int
    rate: float
    low: float
    high: float
    metrics: dict[str, MetricEstimate]
    inadmissible: float | None
    pass_at_k: tuple[float, ...] = ()
    by_attempt: tuple[float, ...] = ()


def cell_statistics(
    cell: BenchCell,
    episodes: Sequence[MeasuredEpisode],
    names: Sequence[str],
    *,
    with_intervals: bool = False,
    max_kinds: int | None = None,
) -> list[CellStatistics]:
    """Return one entry for each of the first ``max_kinds`` kinds, then one for all episodes, of kind ``"all"``.

    ``names`` are the metrics. Only rates have intervals unless others are asked for: those take a while.
    """
    by_kind: dict[str, list[MeasuredEpisode]] = {}
    for one in episodes:
        by_kind.setdefault(one[0].task.kind, []).append(one)
    every = [*islice(by_kind.items(), max_kinds), ("all", list(episodes))]
    return [_kind_statistics(cell, kind, part, names, with_intervals) for kind, part in every]


def _kind_statistics(
    cell: BenchCell, kind: str, episodes: list[MeasuredEpisode], names: Sequence[str], with_intervals: bool
) -> CellStatistics:
    measures = [m for _, m in episodes]
    n, wins = len(measures), sum(m.success for m in measures)
    idle, acted = sum_if_known([m.inadmissible for m in measures]), sum(m.actions for m in measures)
    return CellStatistics(
        cell.name,
        kind,
        n,
        wins,
        wins / n if n else 0.0,
        *wilson_interval(wins, n),
        {
            name: estimate_metric(METRICS[name], episodes, with_interval=with_intervals or METRICS[name].is_rate)
            for name in names
        },
        idle / acted if idle is not None and acted else None,
        _pass_rates(episodes),
        _rates_by_attempt(measures),
    )


def _rates_by_attempt(episodes: Sequence[EpisodeMeasures]) -> tuple[float, ...]:
    """The success rates after attempt 1, 2, …: AdaPlanner's Figure 4b (Sun et al. 2023)."""
    last = min(max((m.renewed_attempts for m in episodes), default=-1), MAX_ATTEMPTS - 1)
    solved = Counter(m.renewed_attempts for m in episodes if m.success)
    return tuple(sums / len(episodes) for sums in accumulate(solved[further] for further in range(last + 1)))


def _pass_rates(episodes: list[MeasuredEpisode]) -> tuple[float, ...]:
    """pass@1, pass@2, …; empty if each task has one episode."""
    by_task: dict[str, list[bool]] = {}
    for ended, measures in episodes:
        by_task.setdefault(ended.task.id, []).append(measures.success)
    tasks = Counter((len(wins), sum(wins)) for wins in by_task.values())  # tasks with the same counts count once
    most = min(max((n for n, _ in tasks), default=0), MAX_ATTEMPTS)
    return tuple(_mean_pass_rate(tasks, k) for k in range(1, most + 1)) if most > 1 else ()


def _mean_pass_rate(tasks: Counter[tuple[int, int]], k: int) -> float:
    """The mean of pass@k over the tasks with at least ``k`` episodes.

    ``tasks`` are counted by their episodes and successes.
    """
    counted = {(n, c): count for (n, c), count in tasks.items() if n >= k}
    return sum(pass_at_k(n, c, k) * count for (n, c), count in counted.items()) / sum(counted.values())
