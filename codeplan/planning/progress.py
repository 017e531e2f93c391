"""Notices refinements that change nothing: the next run ends as the run before and learns nothing new about the world,
or the check refuses the next plan for the same reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from codeplan.planning.action_log import Exchange
from codeplan.types import (
    Diagnostic,
    Failed,
    Finished,
    GiveUp,
    NoProgress,
    Observation,
    Outcome,
    Rejected,
    Replan,
    Stopped,
    Value,
)
from codeplan.untrusted.values import in_quotes

_MAX_OBSERVATION: Final = 300  # characters of the last observation in an ending


class _RunEnd(Value, frozen=True):
    """How a run ended, and its last observation. Times and amounts are left out: they differ from run to run.

    A refused plan did not run; ``diagnostics`` are what the check found.
    """

    kind: str
    step: int | None
    error: str
    message: str
    observation: Observation
    diagnostics: tuple[Diagnostic, ...] = ()


class ProgressMonitor:
    """Judges the runs and the refusals of one task, in order.

    A refinement changes nothing in two cases. Either its run ends as the run before, with the same last observation,
    and none of its actions had an answer that is new in this task. Or its plan is refused, after repairs, for the same
    reasons as the plan before. ``max_unchanged`` such refinements in a row are a standstill, and so are two replans in
    a row without an action in between. 0 switches this off.
    """

    def __init__(self, max_unchanged: int) -> None:
        self._max_unchanged, self._unchanged = max_unchanged, 0
        self._last: _RunEnd | None = None
        self._known: set[tuple[str, str]] = set()  # actions with their answers

    def find_standstill(
        self, outcome: Outcome | Rejected, observation: Observation, exchanges: Sequence[Exchange]
    ) -> NoProgress | None:
        """The ending if this run or refusal shows that there is no progress; ``exchanges`` are those of the run."""
        now, before = _run_end(outcome, observation), self._last
        actions = {(e.said, e.answer) for e in exchanges if e.number is not None}
        idle = before is not None and before.kind == now.kind == "replan" and not actions
        self._unchanged = self._unchanged + 1 if now == before and actions <= self._known else 0
        self._last = now
        self._known |= actions
        if not self._max_unchanged:
            return None
        if idle:
            return NoProgress("no progress: two plans in a row asked to replan, without an action in between")
        if self._unchanged >= self._max_unchanged:
            return NoProgress(f"no progress: {_count(self._unchanged)} led to the same end; {_describe(now)}")
        return None


def _run_end(outcome: Outcome | Rejected, observation: Observation) -> _RunEnd:
    if isinstance(outcome, Rejected):
        return _RunEnd("refused", None, "", "", observation, outcome.diagnostics)
    kind = str(outcome.__struct_config__.tag)
    match outcome:
        case Failed(step=step, error=error, message=message):
            return _RunEnd(kind, step, error, message, observation)
        case Stopped(step=step, limit=limit):
            return _RunEnd(kind, step, limit, "", observation)
        case Replan(step=step, reason=reason):
            return _RunEnd(kind, step, "", reason, observation)
        case GiveUp(step=step):
            return _RunEnd(kind, step, "", "", observation)
        case Finished():
            return _RunEnd(kind, None, "", "", observation)


def _count(refinements: int) -> str:
    return "a refinement" if refinements == 1 else f"{refinements} refinements in a row"


def _describe(end: _RunEnd) -> str:
    if end.diagnostics:
        return f"each plan was refused: {end.diagnostics[0]}"
    if end.kind == "finished":
        return f"each plan ran to its end; then came: {in_quotes(end.observation.text, _MAX_OBSERVATION)}"
    where = f"in step {end.step}" if end.step is not None else "outside the steps"
    return f"each plan {'asked to replan' if end.kind == 'replan' else f'ended with {end.error}'} {where}"
