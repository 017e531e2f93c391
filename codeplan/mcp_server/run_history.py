"""Reads from a run's trace how it ended, and the variables to resume it with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codeplan.errors import UsageError
from codeplan.mcp_server.run_folders import RunState
from codeplan.planning.resume_point import PlanAttempt
from codeplan.recording.events import (
    ActionTaken,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    PlanDrafted,
    PlanFailed,
    PlanFinished,
    PlanFixed,
    PlanGaveUp,
    PlanReplanned,
    PlanStarted,
    PlanStopped,
    StepEntered,
)
from codeplan.recording.tool_events import CallBegun
from codeplan.recording.trace import Trace
from codeplan.runner.new_episodes import TRACE_NAME
from codeplan.runner.start_state import verify_checkpoint
from codeplan.sandbox import Sandbox
from codeplan.types import (
    AgentApi,
    Checkpoint,
    Ending,
    Failed,
    Finished,
    GiveUp,
    Outcome,
    Plan,
    Replan,
    ResourceUsage,
    Stopped,
    Value,
)

BROKEN_OFF = "broken off"
"""The limit of a ``Stopped`` run whose trace does not say how it ended."""


class PastRun(Value, frozen=True):
    """A run that has ended.

    ``attempt`` is the attempt from which a resumed plan continues. ``events`` are those of the plan's run.

    ``ending`` is the episode's, None if its trace has no end. ``broken_off`` is true if the plan did not end by
    itself: the server was killed, the client cancelled the run, or something around the plan failed.
    """

    goal: str
    attempt: PlanAttempt
    events: tuple[Event, ...]
    ending: Ending | None
    broken_off: bool

    @property
    def call_in_doubt(self) -> str:
        """The call that was begun and not answered, as the trace has it; empty if there is none."""
        last = next((e for e in reversed(self.events) if isinstance(e, CallBegun | ActionTaken)), None)
        return last.action if isinstance(last, CallBegun) else ""


def read_past_run(folder: Path, state: RunState, sandbox: Sandbox, api: AgentApi) -> PastRun:
    """The run of a folder. The trace is not trusted: the plan is checked again, and the variables are decoded safely.

    Raises: UsageError: the trace cannot be read, is that of another episode, or its plan does not fit the tools.
    """
    events = Trace.read(folder / TRACE_NAME)
    header = events[0] if events else None
    if not isinstance(header, EpisodeStarted) or (header.env, header.method) != ("tools", "exec"):
        raise UsageError(f"{folder.name} is no run of a plan with tools; name a run that run_plan returned")
    plan = _plan(events, folder.name, sandbox, api)
    first = next((i for i, e in enumerate(events) if isinstance(e, PlanStarted)), len(events))
    ran = tuple(events[first:])
    entries = state.entries | {e.step: e.checkpoint for e in reversed(ran) if isinstance(e, StepEntered)}
    for step, checkpoint in entries.items():
        verify_checkpoint(checkpoint, f"the variables of step {step} in the run {folder.name}")
    outcome = _outcome(ran, entries, state)
    for variables in (outcome.checkpoint,) if outcome.checkpoint else ():
        verify_checkpoint(variables, f"the last variables of the run {folder.name}")
    last = events[-1]
    end = last if isinstance(last, EpisodeEnded) else None
    attempt = PlanAttempt(plan, outcome, entries)
    return PastRun(header.task.goal, attempt, ran, end.result.ending if end else None, end is None or end.broken_off)


def _plan(events: Sequence[Event], run: str, sandbox: Sandbox, api: AgentApi) -> Plan:
    source = next((e.source for e in reversed(events) if isinstance(e, PlanDrafted | PlanFixed)), "")
    checked = sandbox.check(source, api)
    if not isinstance(checked, Plan):
        raise UsageError(
            f"the plan of the run {run} does not fit the tools any more ({checked.diagnostics[0]}); send it to run_plan"
        )
    return checked


def _outcome(events: Sequence[Event], entries: dict[int, Checkpoint], state: RunState) -> Outcome:
    """How the plan's run ended, according to the events."""
    end = next((e for e in reversed(events) if isinstance(e, _ENDS)), None)
    used = ResourceUsage()
    match end:
        case PlanFailed():
            return Failed(end.step, end.line, end.error, end.message, "", end.checkpoint, entries, used)
        case PlanStopped():
            return Stopped(end.limit, end.value, end.allowed, end.step, end.line, end.message, "", None, entries, used)
        case PlanReplanned():
            return Replan(end.step, end.line, end.reason, end.step_done, "", end.checkpoint, entries, used)
        case PlanGaveUp():
            return GiveUp(end.step, end.line, end.reason, "", end.checkpoint, entries, used)
        case PlanFinished():
            return Finished("", end.step, state.final or Checkpoint(), entries, used)
    step = max((e.step for e in events if isinstance(e, StepEntered)), default=None)
    return Stopped(BROKEN_OFF, 0, 0, step, None, "the run was broken off", "", None, entries, used)


_ENDS = (PlanFailed, PlanStopped, PlanReplanned, PlanGaveUp, PlanFinished)
