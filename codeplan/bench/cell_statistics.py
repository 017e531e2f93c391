"""Statistics of a bench's cells, by kind of task."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from codeplan.bench.episode_measures import EpisodeMeasures, MeasuredEpisode, sum_if_known
from codeplan.bench.metrics import METRICS, MetricEstimate, estimate_metric
from codeplan.bench.store import BenchCell
from codeplan.statistics import pass_at_k, wilson_interval
from codeplan.types import Value


class CellStatistics(Value, frozen=True):
    """A kind of task in one cell: the success rate with its 95 % Wilson interval, and metrics by name.

    ``inadmissible`` is a share of all actions. ``pass_at_k`` holds pass@k for k from 1: the unbiased mean over the
    tasks with at least k episodes. ``by_attempt`` holds, for k from 1, the share of the episodes solved within k
    attempts (``EpisodeMeasures.renewed_attempts``), up to the last attempt of any of them.
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
    cell: BenchCell, episodes: Sequence[MeasuredEpisode], names: Sequence[str], *, with_intervals: bool = False
) -> list[CellStatistics]:
    """Return one entry per kind in order of first appearance, then one for all, of kind ``"all"``.

    ``names`` are the metrics. Only rates have intervals unless others are asked for: those take a while.
    """
    kinds = list(dict.fromkeys(e.task.kind for e, _ in episodes))
    parts = [(kind, [one for one in episodes if one[0].task.kind == kind]) for kind in kinds]
    every = [*parts, ("all", list(episodes))]
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
    last = max((m.renewed_attempts for m in episodes), default=-1)
    return tuple(fmean(m.success and m.renewed_attempts <= further for m in episodes) for further in range(last + 1))


def _pass_rates(episodes: list[MeasuredEpisode]) -> tuple[float, ...]:
    """pass@1, pass@2, …; empty if each task has one episode."""
    by_task: dict[str, list[bool]] = {}
    for ended, measures in episodes:
        by_task.setdefault(ended.task.id, []).append(measures.success)
    most = max(map(len, by_task.values()), default=0)
    if most < 2:
        return ()
    return tuple(
        fmean(pass_at_k(len(t), sum(t), k) for t in by_task.values() if len(t) >= k) for k in range(1, most + 1)
    )
