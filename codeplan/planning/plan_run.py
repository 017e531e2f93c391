"""Checks plans for an episode and runs them: in the sandbox, with their steps, output and outcome in the trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal

from msgspec.structs import replace

from codeplan.episode.episode import Episode, show_failed_tool
from codeplan.errors import AnswerChanged, EpisodeOver
from codeplan.planning.plan_origins import note_origins
from codeplan.recording.event_log import events_of
from codeplan.recording.events import (
    PlanEnded,
    PlanFixed,
    PlanRejected,
    PlanStarted,
    PlanWarned,
    StepEntered,
    TextPrinted,
    WarningIssued,
)
from codeplan.recording.trace import TIMING_LIMITS
from codeplan.sandbox import Progress, Sandbox, StepEntry
from codeplan.sandbox.host.backend import LineCoverage
from codeplan.sandbox.language.extraction import STEPS_ALONE, MergedReply, add_header, defines_solution
from codeplan.types import (
    Checkpoint,
    Claimed,
    Ending,
    Failed,
    Outcome,
    Plan,
    Rejected,
    Stopped,
    recorded_outcome,
    refuse_warnings,
)
from codeplan.types.value import Value


def begin_plan(
    sandbox: Sandbox,
    episode: Episode,
    number: int,
    plan: Plan,
    start: int,
    checkpoint: Checkpoint | None,
    *,
    from_outside: bool = False,
    shows_data: bool = True,
) -> None:
    """Record that a plan starts, and before it where its calls' arguments come from, if there are flows.

    The event holds the checkpoint only if the checkpoint comes ``from_outside`` the episode. Helper functions are never
    saved; ``plan.provides`` defines them again. ``shows_data`` is as for ``note_origins``.
    """
    note_origins(sandbox, episode, plan, start, checkpoint, shows_data=shows_data)
    state = checkpoint or Checkpoint()
    started = PlanStarted(
        number=number,
        start_from=start,
        restored=tuple(sorted(state.names)),
        dropped={name: why for name, why in state.dropped.items() if name not in plan.provides},
        checkpoint=checkpoint if from_outside else None,
    )
    episode.record(started)


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
    trace = episode.trace
    answers_all = any(events_of(trace.recording[len(trace.events) :], PlanEnded))  # the recording answers all calls
    try:
        outcome = sandbox.run(
            plan,
            agent,
            ask,
            start_from,
            checkpoint,
            on_event=record,
            seed=episode.task.seed,
            on_coverage=on_coverage,
            started=trace.events[-1].at,  # of the recorded event in a replay, so the plan's clock is the same
            waits=not answers_all,
        )
    except EpisodeOver as over:
        step = max(entries, default=None)
        outcome = Stopped("episode", 0, 0, step, None, str(over), entries=entries)
    except AnswerChanged as changed:
        step = max(entries, default=None)
        state = entries[step] if step else Checkpoint()
        outcome = Failed(step, changed.line, "AnswerChanged", str(changed), checkpoint=state, entries=entries)
    if isinstance(outcome, Rejected):
        message = f"the plan passed the check, but was refused when it was to run: {outcome.diagnostics[0]}"
        outcome = Stopped("worker", 0, 0, None, None, message)
    if isinstance(outcome, Failed):
        show_failed_tool(trace.events, outcome, len(trace.recording))
    episode.record(PlanEnded(outcome=recorded_outcome(outcome)))
    return outcome


def ending_of_value(episode: Episode, outcome: Outcome) -> Ending | None:
    """Have the environment judge what a plan returned. The ending ``Claimed`` if it has no verifier; otherwise None."""
    judged = episode.judge(outcome)
    if judged is None or judged.verdict is not None:
        return None
    return Claimed("the plan ran to its end; nobody verified the result")


def without_timing(outcome: Outcome) -> Outcome:
    """The outcome without the parts that can differ in a replay of the same episode: where a time limit struck, and
    the variables. The variables at the step's entry replace them.
    """
    if isinstance(outcome, Stopped) and outcome.limit in TIMING_LIMITS:
        return replace(outcome, line=None, checkpoint=None)
    return outcome


Fixes = Literal["on", "off"]
"""Whether the check mends plans, or only judges them."""


def check_plan(
    sandbox: Sandbox,
    episode: Episode,
    source: str,
    number: int,
    fixes: Fixes,
    *,
    strict: bool = False,
    kept: Iterable[str] = (),
    starts_over: bool = False,
    set_before: Iterable[str] = (),
    judge: Callable[[Plan], Rejected | None] | None = None,
) -> Plan | Rejected:
    """Check the episode's plan of this ``number``. The result's source is the mended text.

    With ``strict``, a plan with warnings is refused. ``kept``, ``starts_over`` and ``set_before`` are as for
    ``Sandbox.check``.
    ``judge`` may refuse a plan that passed.
    """
    before: dict[str, Any] = {"kept": kept, "starts_over": starts_over, "set_before": set_before}
    checked = sandbox.check(source, episode.api, fixes=fixes == "on", **before)
    checked = refuse_warnings(checked) if strict else checked
    if judge and isinstance(checked, Plan):
        checked = judge(checked) or checked
    record_check(episode, checked, number)
    return checked


def record_notices(sandbox: Sandbox, episode: Episode) -> None:
    """Record, once per episode, how the sandbox on this machine differs from the usual one.

    A replay repeats the recorded notices.

    Raises SandboxError if no plan can run here.
    """
    notices, trace = sandbox.notices, episode.trace
    if trace.is_replaying:
        while (warning := trace.peek_recorded(WarningIssued)) is not None:
            episode.record(warning)
        return
    said = {event.message for event in events_of(trace.events, WarningIssued)}
    for notice in notices:
        if notice not in said:
            episode.record(WarningIssued(message=notice))


def record_check(episode: Episode, checked: Plan | Rejected, number: int) -> None:
    """Record the fixes, the warnings and the refusal of a plan."""
    if checked.fixes:
        episode.record(PlanFixed(number=number, fixes=checked.fixes, source=checked.source))
    if isinstance(checked, Rejected):
        episode.record(PlanRejected(number=number, diagnostics=checked.diagnostics))
    elif checked.warnings:
        episode.record(PlanWarned(number=number, warnings=checked.warnings))


_GUARD = re.compile(r"^[ \t]*+if\b[^\n]*\bstart_from\b[^\n]*", re.MULTILINE)


class TakenReply(Value, frozen=True):
    """The plan after a reply: ``source`` is the whole plan.

    ``steps`` are the numbers of the steps that the reply held; None if it held the whole plan. They are empty if it
    changed only code outside the steps, or could not be merged. ``is_plan`` is false if ``source`` is only the text of
    steps that could not be read. ``refusal`` says why steps were not taken; the source is then the plan before.
    """

    source: str
    steps: tuple[int, ...] | None = None
    is_plan: bool = True
    refusal: Rejected | None = None


def take_reply(sandbox: Sandbox, code: str, before: str | None) -> TakenReply:
    """Take the code of a reply. ``before`` is the plan that it may change; None if there is none."""
    first = _GUARD.search(code)
    begins_at_first_step = first is not None and first[0].strip() == "if start_from <= 1:" and defines_solution(code)
    if before is None or begins_at_first_step:  # certainly a whole plan, which needs no worker to find out
        return TakenReply(add_header(code))
    merged = sandbox.merge_reply(code, before)
    if isinstance(merged, MergedReply):
        return TakenReply(merged.source, merged.steps)
    if merged is None:
        return TakenReply(add_header(code))
    if any(d.rule == STEPS_ALONE for d in merged.diagnostics):
        return TakenReply(before, (), refusal=Rejected(before, merged.diagnostics))
    is_plan = defines_solution(code)
    return TakenReply(code, None if is_plan else (), is_plan=is_plan)
