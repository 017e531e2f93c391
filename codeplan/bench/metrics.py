"""Metrics: the columns of a table. A column shows a value over the episodes of a cell, with a 95 % interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import fmean

import msgspec

from codeplan.bench.episode_measures import EpisodeMeasures, MeasuredEpisode, mean_if_known, sum_if_known
from codeplan.errors import UsageError
from codeplan.plugins import suggest_names
from codeplan.statistics import bootstrap_mean, wilson_interval
from codeplan.types import Value
from codeplan.untrusted.values import in_quotes


class Metric(msgspec.Struct, frozen=True):
    """A measure of episodes. ``value`` is None for an episode where it is unknown.

    With ``per`` the metric is the ratio of two sums. A column shows ``scale`` times the mean, with ``digits`` after
    the point. ``is_rate`` marks a yes-or-no measure, which has Wilson's interval; the others have bootstrapped
    intervals. ``of_successes`` leaves out the episodes that failed.
    """

    title: str
    value: Callable[[EpisodeMeasures], float | None]
    per: Callable[[EpisodeMeasures], float | None] | None = None
    scale: float = 1.0
    digits: int = 2
    is_rate: bool = False
    of_successes: bool = False


METRICS: dict[str, Metric] = {
    "success": Metric("success, %", lambda m: m.success, scale=100, digits=1, is_rate=True),
    "claim": Metric("claim, %", lambda m: m.claim, scale=100, digits=1, is_rate=True),
    "reward": Metric("reward", lambda m: m.reward),
    "score": Metric("score", lambda m: m.reward, scale=100, digits=1),
    "k_max": Metric("k_max", lambda m: m.depth or 1, of_successes=True),
    "executor_runs": Metric("executor runs", lambda m: m.executor_runs),
    "plans": Metric("planner calls", lambda m: m.plans),
    "trajectory": Metric("trajectory", lambda m: m.trajectory),
    "actions": Metric("actions", lambda m: m.actions),
    "in_plan": Metric("in-plan", lambda m: m.asks),
    "out_of_plan": Metric("out-of-plan", lambda m: m.refinements),
    "in_plan_per_out_of_plan": Metric("in-plan/out-of-plan", lambda m: m.asks, per=lambda m: m.refinements),
    "calls": Metric("calls", lambda m: m.calls),
    "tokens": Metric("tokens", lambda m: m.tokens, digits=0),
    "money": Metric("US $", lambda m: m.money, digits=4),
    "seconds": Metric("seconds", lambda m: m.seconds),
}
"""The metrics by name. ``score`` is a hundred times the reward, as in WebShop.

``k_max`` is the greatest depth of decomposition in an episode, the mean over the successes (ADaPT's Table 3); 1 without
decomposition. ``executor_runs`` and ``plans`` count the attempts at the task and its sub-tasks, and the calls that
split a goal (ADaPT's released runs).
"""

STANDARD_METRICS = (
    *("success", "trajectory", "actions", "in_plan", "out_of_plan", "calls", "tokens", "money"),
    "seconds",
)
"""The default columns of a table; ``usual_metrics`` adds columns for which the episodes have further data."""


class MetricEstimate(Value, frozen=True):
    """A metric over some episodes, scaled for its column, with its 95 % interval.

    All three are None without episodes, if an episode's value is unknown, or for a ratio whose denominator is zero;
    ``low`` and ``high`` also for every other ratio, and if no interval was asked for.
    """

    episodes: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


def find_metric(name: str) -> Metric:
    """The metric with this name.

    Raises: UsageError: there is none.
    """
    if name not in METRICS:
        raise UsageError(f"there is no metric {in_quotes(name)}; {suggest_names(name, METRICS)}")
    return METRICS[name]


def parse_metrics(text: str) -> tuple[str, ...]:
    """The names in a list with commas, each once.

    Raises: UsageError: one is no metric, or there are none.
    """
    names = tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))
    if not names:
        raise UsageError(f"there is no metric in {in_quotes(text)}; there are: {', '.join(METRICS)}")
    for name in names:
        find_metric(name)
    return names


def usual_metrics(episodes: Sequence[EpisodeMeasures]) -> tuple[str, ...]:
    """The standard metrics, plus reward and claim if they differ from success in some episode."""
    more = ["reward"] if any(m.reward != m.success for m in episodes) else []
    more += ["claim"] if any(m.claim is not None and m.claim != m.success for m in episodes) else []
    return (STANDARD_METRICS[0], *more, *STANDARD_METRICS[1:])


def estimate_metric(
    metric: Metric, episodes: Sequence[MeasuredEpisode], *, with_interval: bool = True
) -> MetricEstimate:
    """The metric over these episodes. Repeats of a task are averaged before a mean's interval is drawn."""
    if metric.of_successes:
        episodes = [(ended, measures) for ended, measures in episodes if measures.success]
    n = len(episodes)
    values = [metric.value(measures) for _, measures in episodes]
    if metric.per is not None:
        above, below = sum_if_known(values), sum_if_known([metric.per(measures) for _, measures in episodes])
        return MetricEstimate(n) if above is None or not below else MetricEstimate(n, metric.scale * above / below)
    mean = mean_if_known(values)
    if mean is None:
        return MetricEstimate(n)
    if not with_interval:
        return MetricEstimate(n, metric.scale * mean)
    low, high = wilson_interval(int(sum(map(bool, values))), n) if metric.is_rate else _interval(episodes, metric)
    return MetricEstimate(n, metric.scale * mean, metric.scale * low, metric.scale * high)


def _interval(episodes: Sequence[MeasuredEpisode], metric: Metric) -> tuple[float, float]:
    by_task: dict[str, list[float]] = {}
    for ended, measures in episodes:
        by_task.setdefault(ended.task.id, []).append(metric.value(measures) or 0.0)
    means = tuple(fmean(values) for values in by_task.values())
    if len({len(values) for values in by_task.values()}) < 2:
        return _mean_interval(means)
    low, high = _mean_interval(_weighted(list(by_task.values()), len(episodes)))
    return max(low, min(means)), min(high, max(means))


def _weighted(by_task: Sequence[Sequence[float]], episodes: int) -> tuple[float, ...]:
    """A value for each task, for tasks that have unequal numbers of episodes, as in an unfinished bench.

    Their mean is that of all episodes, and its bootstrapped interval is that of the mean of all episodes, a ratio of
    two sums over the tasks, to the first order (Cochran 1977, "Sampling Techniques", section 6.3).
    """
    mean, usual = sum(map(sum, by_task)) / episodes, episodes / len(by_task)
    return tuple(mean + (sum(values) - mean * len(values)) / usual for values in by_task)


@lru_cache(maxsize=512)
def _mean_interval(values: tuple[float, ...]) -> tuple[float, float]:
    """The interval of a mean. Cached, because it takes a while and the page of a running bench asks for unchanged
    values again.
    """
    return bootstrap_mean(values)
