"""Runs a plan once: in the sandbox, against an episode, with its steps, output and outcome in the trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from codeplan.episode.episode import Episode
from codeplan.errors import EpisodeOver
from codeplan.recording.event_comparison import TIMING_LIMITS
from codeplan.recording.events import (
    PlanFailed,
    PlanFinished,
    PlanGaveUp,
    PlanReplanned,
    PlanStarted,
    PlanStopped,
    StepEntered,
    TextPrinted,
)
from codeplan.sandbox import Progress, Sandbox, StepEntry
from codeplan.sandbox.protocol.run_progress import LineCoverage
from codeplan.types import (
    Checkpoint,
    Claimed,
    Ending,
    Failed,
    Finished,
    GiveUp,
    Outcome,
    Plan,
    Rejected,
    Replan,
    ResourceUsage,
    Stopped,
)


def start_event(
    number: int, plan: Plan, start: int, checkpoint: Checkpoint | None, *, from_outside: bool = False
) -> PlanStarted:
    """The event of a plan's start. It holds the checkpoint only if the checkpoint comes ``from_outside`` the episode.

    Helper functions are never saved; ``plan.provides`` defines them again.
    """
    state = checkpoint or Checkpoint()
    return PlanStarted(
        number=number,
        start_from=start,
        restored=tuple(sorted(state.names)),
        dropped={name: why for name, why in state.dropped.items() if name not in plan.provides},
        checkpoint=checkpoint if from_outside else None,
    )


def run_plan(
    sandbox: Sandbox,
    episode: Episode,
    plan: Plan,
    agent: Any,
    ask: Callable[[str], str],
    start_from: int = 1,
    checkpoint: Checkpoint | None = None,
    *,
    on_event: Callable[[Progress], None] | None = None,
    on_coverage: Callable[[LineCoverage], None] | None = None,
) -> Outcome:
    """Run a plan in the sandbox against an episode, and record its steps and output in the trace.

    A plan that acts after the environment has ended the episode is stopped with limit ``"episode"``. ``on_event``
    receives each event after it is recorded; an exception that it raises ends the run.
    """

    def record(progress: Progress) -> None:
        if isinstance(progress, StepEntry):
            step = plan.step(progress.step)
            title = step.title if step else ""
            episode.record(StepEntered(step=progress.step, title=title, checkpoint=progress.checkpoint))
            entries[progress.step] = progress.checkpoint
        else:
            episode.record(TextPrinted(text=progress.text))
        if on_event:
            on_event(progress)

    entries: dict[int, Checkpoint] = {}
    try:
        seed = episode.task.seed
        outcome = sandbox.run(
            plan, agent, ask, start_from, checkpoint, on_event=record, seed=seed, on_coverage=on_coverage
        )
    except EpisodeOver as over:
        step = max(entries, default=None)
        outcome = Stopped("episode", 0, 0, step, None, str(over), "", None, entries, ResourceUsage())
    if isinstance(outcome, Rejected):
        message = f"the plan passed the check, but was refused when it was to run: {outcome.diagnostics[0]}"
        outcome = Stopped("worker", 0, 0, None, None, message, "", None, {}, ResourceUsage())
    episode.record(_event(outcome))
    return outcome


def ending_of_value(episode: Episode, outcome: Outcome) -> Ending | None:
    """Have the environment judge what a plan returned. The ending ``Claimed`` if it has no verifier; otherwise None."""
    judged = episode.judge(outcome)
    if judged is None or judged.verdict is not None:
        return None
    return Claimed("the plan ran to its end; nobody verified the result")


def finished_with(value: Any) -> Finished:
    """The outcome recorded for an executor that ended with this value."""
    return Finished("", None, Checkpoint(), {}, ResourceUsage(), value)


def without_timing(outcome: Outcome) -> Outcome:
    """The outcome without the parts that can differ in a replay of the same episode: where a time limit struck, and
    the variables. The variables at the step's entry replace them.
    """
    if isinstance(outcome, Stopped) and outcome.limit in TIMING_LIMITS:
        return replace(outcome, line=None, checkpoint=None)
    return outcome


def _event(outcome: Outcome) -> PlanFailed | PlanStopped | PlanReplanned | PlanGaveUp | PlanFinished:
    match outcome:
        case Failed(step=step, line=line, error=error, message=message, checkpoint=checkpoint):
            return PlanFailed(step=step, line=line, error=error, message=message, checkpoint=checkpoint)
        case Stopped(limit=limit, value=value, allowed=allowed, step=step, line=line, message=message):
            return PlanStopped(limit=limit, value=value, allowed=allowed, step=step, line=line, message=message)
        case Replan(step=step, line=line, reason=reason, step_done=step_done, checkpoint=checkpoint):
            return PlanReplanned(step=step, line=line, reason=reason, step_done=step_done, checkpoint=checkpoint)
        case GiveUp(step=step, line=line, reason=reason, checkpoint=checkpoint):
            return PlanGaveUp(step=step, line=line, reason=reason, checkpoint=checkpoint)
        case Finished(step=step):
            return PlanFinished(step=step)
