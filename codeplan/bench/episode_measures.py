"""Measures of an episode: those of its result, and those that only its trace shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

import msgspec

from codeplan.bench.store import BenchCell, BenchRecord, EpisodeOutcome
from codeplan.recording.trace_size import MAX_LINE_BYTES
from codeplan.runner.new_episodes import TRACE_NAME
from codeplan.statistics import pass_at_k, wilson_interval
from codeplan.types import Value
from codeplan.untrusted import files


class EpisodeMeasures(Value, frozen=True):
    """The measures of an episode.

    ``trajectory`` counts the actions since the last reset, ``actions`` all of them. ``inadmissible`` counts the actions
    without effect, recognised by ``BenchCell.no_effect_prefixes``; None if the cell has none or there is no trace.
    ``asks`` are in-plan refinements, ``refinements`` out-of-plan ones. ``tokens`` and ``money`` (US dollars) are None
    if unknown; ``seconds`` is wall time. ``claim`` is whether the method
    believes that the task is done, None where it does not say.
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


class CellStatistics(Value, frozen=True):
    """A kind of task in one cell: the success rate with its 95 % Wilson interval, and means over the episodes.

    A mean is None if any episode's value is unknown. ``inadmissible`` is a share of all actions. ``pass_at_k`` holds
    pass@k for k from 1: the unbiased mean over the tasks with at least k episodes.
    """

    cell: str
    kind: str
    episodes: int
    successes: int
    rate: float
    low: float
    high: float
    means: dict[str, float | None]
    inadmissible: float | None
    pass_at_k: tuple[float, ...] = ()


MeasuredEpisode = tuple[EpisodeOutcome, EpisodeMeasures]

AVERAGED_MEASURES = ("trajectory", "actions", "asks", "refinements", "calls", "tokens", "money", "seconds")
"""The measures that have means."""


def measure_cell(bench: BenchRecord, cell: BenchCell) -> dict[tuple[str, int], MeasuredEpisode]:
    """Return a cell's outcomes that were not broken off, by task and repeat, with their measures."""
    return {
        (e.task.id, e.repeat): (e, measure_episode(e, bench.folder, cell.no_effect_prefixes))
        for e in bench.outcomes_of(cell.name)
        if not e.broken
    }


def measure_episode(ended: EpisodeOutcome, folder: Path, no_effect_prefixes: tuple[str, ...] | None) -> EpisodeMeasures:
    """Return the measures of an episode of the bench in ``folder``."""
    result, observed = ended.result, list(_read_observations(folder, ended.run)) if ended.run else []
    since = max((i for i, text in enumerate(observed) if text is None), default=-1)
    known = since >= 0 and no_effect_prefixes is not None
    return EpisodeMeasures(
        success=result.success,
        reward=result.reward,
        trajectory=len(observed) - since - 1 if since >= 0 else result.actions,
        actions=result.actions,
        asks=result.asks,
        refinements=result.refinements,
        calls=result.model_calls,
        tokens=result.usage.total_tokens,
        money=result.usage.money,
        seconds=result.seconds,
        claim=result.claim,
        inadmissible=sum(t is not None and t.startswith(no_effect_prefixes or ()) for t in observed) if known else None,
    )


def cell_statistics(cell: BenchCell, episodes: Sequence[MeasuredEpisode]) -> list[CellStatistics]:
    """Return one entry per kind in order of first appearance, then one for all, of kind ``"all"``."""
    kinds = list(dict.fromkeys(e.task.kind for e, _ in episodes))
    parts = [(kind, [one for one in episodes if one[0].task.kind == kind]) for kind in kinds]
    return [_kind_statistics(cell, kind, part) for kind, part in [*parts, ("all", list(episodes))]]


def _kind_statistics(cell: BenchCell, kind: str, episodes: list[MeasuredEpisode]) -> CellStatistics:
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
        {name: mean_if_known([getattr(m, name) for m in measures]) for name in AVERAGED_MEASURES},
        idle / acted if idle is not None and acted else None,
        _pass_rates(episodes),
    )


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


def mean_if_known(values: Sequence[float | None]) -> float | None:
    """Return the mean; None if there are no values or one is unknown."""
    sum_of_all = sum_if_known(values)
    return None if sum_of_all is None or not values else sum_of_all / len(values)


def sum_if_known(values: Sequence[float | None]) -> float | None:
    """Return the sum; None if a value is unknown."""
    known = [v for v in values if v is not None]
    return sum(known) if len(known) == len(values) else None


class _EventWithObservation(msgspec.Struct):
    """The part of an event that is needed here; the rest is not decoded."""

    event: str
    observation: _ObservationText


class _ObservationText(msgspec.Struct):
    text: str


_decoder = msgspec.json.Decoder(_EventWithObservation)
_EVENT_PREFIXES = (b'{"event":"action_taken"', b'{"event":"environment_reset"')


def _read_observations(folder: Path, run: str) -> Iterator[str | None]:
    """The observation after each action of a run in a bench's folder, and None for each reset; empty without a trace.

    The bench's results name the run, so the path may lead anywhere; a trace outside the bench's folder is not read.
    """
    try:
        with files.open_to_read(folder / run / TRACE_NAME, folder) as file:
            for line in files.bounded_lines(file, MAX_LINE_BYTES):
                if line.startswith(_EVENT_PREFIXES):
                    event = _decoder.decode(line)
                    yield event.observation.text if event.event == "action_taken" else None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
