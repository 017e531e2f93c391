"""Measures of an episode, from its result and from its trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from codeplan.bench.grid import BenchCell
from codeplan.bench.store import BenchRecord, EpisodeOutcome
from codeplan.recording.trace_size import MAX_LINE_BYTES
from codeplan.runner.new_episodes import TRACE_NAME
from codeplan.types import Value
from codeplan.untrusted import files


class EpisodeMeasures(Value, frozen=True):
    """The measures of an episode.

    ``trajectory`` counts the actions since the last reset, ``actions`` all of them. ``inadmissible`` counts the
    actions without effect, recognised by ``BenchCell.no_effect_prefixes``; None if the cell has none or there is no
    trace. ``asks`` are in-plan refinements, ``refinements`` out-of-plan ones. ``tokens`` and ``money`` (US dollars)
    are None if unknown; ``seconds`` is wall time. ``claim`` is whether the method believes that the task is done, None
    if it does not say. ``retrials`` are the trials after the first (Reflexion, Try-Again), 0 without a trace.
    ``depth`` is that of the deepest sub-task, None for methods that do not decompose. ``plans`` are the calls that
    split a goal into sub-tasks. ``executor_runs`` are the attempts at the task and at sub-tasks in which the model
    acted or wrote a plan in code. Both are None without a trace.
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
    result, observed = ended.result, list(_read_observations(folder, ended.run)) if ended.run else []
    since = max((i for i, text in enumerate(observed) if text is None), default=-1)
    parts = _count_parts(folder, ended.run) if observed else _Parts(0, None, None)
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
        retrials=max(parts.trials - 1, 0),
        plans=parts.plans,
        executor_runs=parts.executor_runs,
        depth=result.depth,
        inadmissible=sum(t is not None and t.startswith(no_effect_prefixes or ()) for t in observed) if known else None,
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


class _OpenedSpan(msgspec.Struct, tag_field="event", tag="span_opened"):
    """The part of an opened span's event that is needed here. ``span`` is the one around it."""

    kind: str
    span: int | None = None


class _Called(msgspec.Struct, tag_field="event", tag="model_called"):
    """The part of a model call's event that is needed here. ``span`` is the one around it."""

    purpose: str
    span: int | None = None


class _Parts(msgspec.Struct):
    """How many parts of an episode there were; ``plans`` and ``executor_runs`` are None without a trace."""

    trials: int
    plans: int | None
    executor_runs: int | None


_E = TypeVar("_E")
_part_decoder: msgspec.json.Decoder[_OpenedSpan | _Called] = msgspec.json.Decoder(_OpenedSpan | _Called)
_PART_PREFIXES = (b'{"event":"span_opened"', b'{"event":"model_called"')
_EXECUTING = frozenset({"act", "plan"})
"""The purposes of an executor's calls: ReAct's actions and AdaPlanner's plans in code."""

_decoder = msgspec.json.Decoder(_EventWithObservation)
_EVENT_PREFIXES = (b'{"event":"action_taken"', b'{"event":"environment_reset"')


def _count_parts(folder: Path, run: str) -> _Parts:
    """The trials of the whole task in a run's trace, not of its sub-tasks, the planner's calls and the executor's runs.

    Each attempt has a span of its own; an attempt at the whole task by an executor alone has none.
    """
    trials = plans = 0
    spans: set[int | None] = set()
    for event in _read_events(folder, run, _PART_PREFIXES, _part_decoder):
        if isinstance(event, _OpenedSpan):
            trials += event.kind == "trial" and event.span is None
        else:
            plans += event.purpose == "decompose"
            spans |= {event.span} if event.purpose in _EXECUTING else set()
    return _Parts(trials, plans, len(spans))


def _read_observations(folder: Path, run: str) -> Iterator[str | None]:
    """The observation after each action of a run in a bench's folder, and None for each reset; empty without a trace.

    The bench's results name the run, so the path may lead anywhere; a trace outside the bench's folder is not read.
    """
    for event in _read_events(folder, run, _EVENT_PREFIXES, _decoder):
        yield event.observation.text if event.event == "action_taken" else None


def _read_events(
    folder: Path, run: str, prefixes: tuple[bytes, ...], decoder: msgspec.json.Decoder[_E]
) -> Iterator[_E]:
    """The events of a run's trace whose lines begin with these bytes."""
    try:
        with files.open_to_read(folder / run / TRACE_NAME, folder) as file:
            for line in files.bounded_lines(file, MAX_LINE_BYTES):
                if line.startswith(prefixes):
                    yield decoder.decode(line)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
