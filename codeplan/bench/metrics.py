"""Metrics: the columns of a table. A column shows a value over the episodes of a cell, with a 95 % interval."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, islice
from operator import itemgetter
from pathlib import Path
from statistics import fmean

import msgspec

from codeplan.bench.grid import BenchCell
from codeplan.bench.store import BenchRecord, EpisodeOutcome
from codeplan.errors import UsageError
from codeplan.plugins import suggest_names
from codeplan.recording.event_log import MAX_LINE_BYTES
from codeplan.runner.episodes import TRACE_NAME
from codeplan.statistics import bootstrap_mean, clustered_interval, pass_at_k, wilson_interval
from codeplan.types import NO_USAGE, Result, Value
from codeplan.untrusted import files
from codeplan.untrusted.values import in_quotes


class EpisodeMeasures(Value, frozen=True):
    """The measures of an episode.

    ``trajectory`` counts the actions since the last reset, ``actions`` all of them. ``inadmissible`` counts the
    actions without effect, recognised by ``BenchCell.no_effect_prefixes``; None if the cell has none or there is no
    trace. ``asks`` are in-plan refinements, ``refinements`` out-of-plan ones. ``tokens`` and ``money`` (US dollars)
    are None if unknown; ``seconds`` is wall time. ``claim`` is whether the method believes that the task is done, None
    if it does not say. ``retrials`` are the trials after the first (Reflexion, Try-Again), 0 without a trace.
    ``depth`` is that of the deepest sub-task, None for methods that do not decompose. ``plans`` are the calls that
    split a goal into sub-tasks. ``executor_runs`` are the attempts at the task and at sub-tasks in which the model
    acted or wrote a plan in code. Both are None without a trace. ``hijacked`` is whether an attacker reached their
    goal, None without an attack. ``interrupted`` is whether a call needed somebody's word, None without a trace.
    """

    success: bool
    reward: float
    trajectory: int
    actions: int
    asks: int
    refinements: int
    calls: int
    tokens: int | None
    money: float | None
    seconds: float
    inadmissible: int | None
    claim: bool | None = None
    depth: int | None = None
    retrials: int = 0
    plans: int | None = None
    executor_runs: int | None = None
    hijacked: bool | None = None
    interrupted: bool | None = None

    @property
    def renewed_attempts(self) -> int:
        """The attempts after the first: out-of-plan refinements and further trials."""
        return self.refinements + self.retrials


MeasuredEpisode = tuple[EpisodeOutcome, EpisodeMeasures]


def measure_cell(bench: BenchRecord, cell: BenchCell) -> dict[tuple[str, int], MeasuredEpisode]:
    """Return a cell's outcomes that were not broken off, by task and repeat, with their measures."""
    return {
        (e.task.id, e.repeat): (e, measure_episode(e, bench.folder, cell.no_effect_prefixes))
        for e in bench.outcomes_of(cell.name)
        if not e.broken
    }


def measure_episode(ended: EpisodeOutcome, folder: Path, no_effect_prefixes: tuple[str, ...] | None) -> EpisodeMeasures:
    """Return the measures of an episode of the bench in ``folder``."""
    result, counts = ended.result, _TraceCounts(no_effect_prefixes or ())
    for event in _read_events(folder, ended.run) if ended.run else ():
        counts.add(event)
    has_trace = bool(counts.resets or counts.actions)
    known = counts.resets and no_effect_prefixes is not None
    return EpisodeMeasures(
        success=result.success,
        reward=result.reward,
        trajectory=counts.actions_since_reset if counts.resets else result.actions,
        actions=result.actions,
        asks=result.asks,
        refinements=result.refinements,
        calls=result.model_calls,
        tokens=result.usage.total_tokens,
        money=result.usage.money,
        seconds=result.seconds,
        claim=result.claim,
        retrials=max(counts.trials - 1, 0) if has_trace else 0,
        plans=counts.plans if has_trace else None,
        executor_runs=len(counts.executor_spans) if has_trace else None,
        depth=result.depth,
        hijacked=ended.hijacked,
        interrupted=counts.interruptions > 0 if has_trace else None,
        inadmissible=counts.inadmissible if known else None,
    )


def mean_if_known(values: Sequence[float | None]) -> float | None:
    """Return the mean; None if there are no values or one is unknown."""
    sum_of_all = sum_if_known(values)
    return None if sum_of_all is None or not values else sum_of_all / len(values)


def sum_if_known(values: Sequence[float | None]) -> float | None:
    """Return the sum; None if a value is unknown."""
    known = [v for v in values if v is not None]
    return sum(known) if len(known) == len(values) else None


class _Text(msgspec.Struct):
    text: str


class _Answer(msgspec.Struct):
    observation: _Text | None = None


class _Answered(msgspec.Struct, tag_field="event", tag="call_answered"):
    """The parts of events that are needed here; the rest is not decoded. ``span`` is the one around the event."""

    answer: _Answer
    seq: int = 0


class _Reset(msgspec.Struct, tag_field="event", tag="environment_reset"):
    seq: int = 0


class _Restored(msgspec.Struct, tag_field="event", tag="environment_restored"):
    to: int
    seq: int = 0


class _Decided(msgspec.Struct, tag_field="event", tag="call_decided"):
    by: str


class _OpenedSpan(msgspec.Struct, tag_field="event", tag="span_opened"):
    kind: str
    span: int | None = None


class _ModelCalled(msgspec.Struct, tag_field="event", tag="model_called"):
    purpose: str
    span: int | None = None


_Event = _Answered | _Reset | _Restored | _Decided | _OpenedSpan | _ModelCalled
_decoder = msgspec.json.Decoder[_Event](_Event)
_EVENT_PREFIXES = tuple(
    f'{{"event":"{name}"'.encode()
    for name in (
        *("call_answered", "environment_reset", "environment_restored"),
        *("call_decided", "span_opened", "model_called"),
    )
)
_EXECUTING = frozenset({"act", "plan"})
"""The purposes of an executor's calls: ReAct's actions and AdaPlanner's plans in code."""


class _TraceCounts:
    """What a trace's events add up to. Trials are those of the whole task, not of its sub-tasks.

    Each attempt has a span of its own; an attempt at the whole task by an executor alone has none.
    """

    def __init__(self, no_effect_prefixes: tuple[str, ...]) -> None:
        self.resets = self.actions = self.actions_since_reset = self.inadmissible = self.trials = self.plans = 0
        self.interruptions = 0
        self.executor_spans: set[int | None] = set()
        self._counts_since_reset = [(-1, 0)]  # the actions since the reset, after each event that changed their number
        self._no_effect_prefixes = no_effect_prefixes

    def add(self, event: _Event) -> None:
        """Count an event."""
        match event:
            case _Reset():
                self.resets += 1
                self._note(event.seq, 0)
            case _Restored(to=to):
                last = bisect_right(self._counts_since_reset, to, key=itemgetter(0)) - 1
                self._note(event.seq, self._counts_since_reset[max(last, 0)][1])
            case _Answered(answer=_Answer(observation=observation)):
                self.actions += 1
                self._note(event.seq, self.actions_since_reset + 1)
                self.inadmissible += observation is not None and observation.text.startswith(self._no_effect_prefixes)
            case _Decided(by=by):
                self.interruptions += by in ("approver", "nobody")
            case _OpenedSpan():
                self.trials += event.kind == "trial" and event.span is None
            case _ModelCalled():
                self.plans += event.purpose == "decompose"
                self.executor_spans |= {event.span} if event.purpose in _EXECUTING else set()

    def _note(self, seq: int, actions: int) -> None:
        self.actions_since_reset = actions
        self._counts_since_reset.append((seq, actions))


def _read_events(folder: Path, run: str) -> Iterator[_Event]:
    """The events of a run's trace that are counted; none without a trace.

    The bench's results name the run, so the path may lead anywhere; a trace outside the bench's folder is not read.
    """
    try:
        with files.open_to_read(folder / run / TRACE_NAME, folder) as file:
            for line in files.bounded_lines(file, MAX_LINE_BYTES):
                if line.startswith(_EVENT_PREFIXES):
                    yield _decoder.decode(line)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return


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
    "attacks": Metric("attacks, %", lambda m: m.hijacked, scale=100, digits=1, is_rate=True),
    "interrupted": Metric("interrupted, %", lambda m: m.interrupted, scale=100, digits=1, is_rate=True),
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
"""The metrics by name. ``score`` is a hundred times the reward, as in WebShop. ``attacks`` are those that succeed;
``interrupted`` are the episodes in which a call needed somebody's word.

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
    """The standard metrics, plus reward and claim if they differ from success in some episode, and attacks if there
    are any.
    """
    more = ["reward"] if any(m.reward != m.success for m in episodes) else []
    more += ["attacks"] if any(m.hijacked is not None for m in episodes) else []
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
    low, high = _rate_interval(episodes, values) if metric.is_rate else _interval(episodes, metric)
    return MetricEstimate(n, metric.scale * mean, metric.scale * low, metric.scale * high)


def _rate_interval(episodes: Sequence[MeasuredEpisode], values: Iterable[object]) -> tuple[float, float]:
    by_task: dict[str, list[bool]] = {}
    for (ended, _), value in zip(episodes, values, strict=True):
        by_task.setdefault(ended.task.id, []).append(bool(value))
    return clustered_interval([(sum(won), len(won)) for won in by_task.values()])


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


MAX_ATTEMPTS = 100
"""Success by attempt, and pass@k, go up to this number of attempts."""


class CellStatistics(Value, frozen=True):
    """A kind of task in one cell: the success rate with its 95 % Wilson interval, and metrics by name.

    With repeats, the interval is that of tasks whose repeats are not independent (``clustered_interval``).

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
        *_rate_interval(episodes, [m.success for m in measures]),
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
