"""Notices refinements that change nothing.

The next run ends as the one before, and learns nothing new of the world; or the next plan is refused as the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from codeplan.planning.action_log import Exchange
from codeplan.types import Diagnostic, Failed, NoProgress, Observation, Outcome, Rejected, Replan, Stopped, Value

_KINDS: Final = {"finished": "ran to its end", "replan": "asked to replan"}


class _RunEnd(Value, frozen=True):
    """How a run ended, and what was observed last. Times and amounts are left out: they differ from run to run.

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

    A refinement changes nothing if its run ends as the run before, in a world that answers the same, and no action of
    it had an answer that is new to the task; or if its plan is refused, after repairs, for the same reasons as the plan
    before. With ``max_unchanged`` of them in a row, there is no progress. The same holds for two replans in a row
    without an action in between. 0 allows everything.
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
        case _:
            return _RunEnd(kind, outcome.step, "", "", observation)


def _count(refinements: int) -> str:
    return "a refinement" if refinements == 1 else f"{refinements} refinements in a row"


def _describe(end: _RunEnd) -> str:
    if end.diagnostics:
        return f"each plan was refused: {end.diagnostics[0]}"
    where = f"in step {end.step}" if end.step is not None else "outside the steps"
    return f"each plan {_KINDS.get(end.kind) or f'ended with {end.error}'} {where}"
