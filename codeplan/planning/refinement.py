"""The refinement loop: draft a plan, run it, refine it from what went wrong, resume it.

This is AdaPlanner's loop (Sun et al., NeurIPS 2023, section 3 and Algorithm 1). ``resume_point`` finds the step to
resume at; the ``PlanWriter`` writes the plans; everything that happens goes through the Episode.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import msgspec

from codeplan.episode.episode import Episode
from codeplan.episode.rewind import actions_since_reset, rewind
from codeplan.errors import SizeExceeded, UsageError
from codeplan.planning.action_log import read_run
from codeplan.planning.feedback import NextStart, RunReport, describe_outcome, describe_refusal
from codeplan.planning.limits_left import limits_left
from codeplan.planning.plan_check import Fixes, check_plan, record_check
from codeplan.planning.plan_run import run_plan, start_event
from codeplan.planning.plan_writer import PlanWriter
from codeplan.planning.reply_taking import TakenReply, take_reply
from codeplan.planning.resume_point import find_resume_point
from codeplan.recording.events import PlanDrafted
from codeplan.sandbox import Sandbox
from codeplan.types import (
    Checkpoint,
    Claimed,
    Diagnostic,
    Ending,
    EnvironmentEnded,
    Finished,
    NotSolved,
    Outcome,
    Plan,
    Purpose,
    Refused,
    Rejected,
    TooLarge,
)

MAX_REPAIRS = 2
"""Repairs of a refused plan, at most, before it counts as a try."""

ResumeBy = Literal["syntax", "model"]
CodeCheck = Literal["on-error", "always"]
ResumeState = Literal["failure", "entry"]
AfterFailure = Literal["resume", "restart"]


class LoopSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the loop. The defaults are the paper's limits, without its model calls that code can replace.

    ``tries`` limits the runs of a plan; from run ``start_over_from`` on, plans start at step 1 again. ``resume_by``
    finds the step to resume at by a comparison of syntax, or asks the model, as in the paper. ``code_check`` sends a
    new plan back for repair if the check refuses it, or always, as in the paper (which then relies on refinement
    alone). ``resume_state`` is what the failed step resumes with: the variables at the failure, or those at its entry.
    ``fixes`` says whether the check mends plans without a model. ``after_failure="restart"`` is for comparison: it
    resets the environment and starts each plan at step 1.

    Raises: UsageError: ``tries`` or ``start_over_from`` is below 1.
    """

    tries: int = 6
    start_over_from: int = 4
    resume_by: ResumeBy = "syntax"
    code_check: CodeCheck = "on-error"
    resume_state: ResumeState = "failure"
    after_failure: AfterFailure = "resume"
    fixes: Fixes = "on"

    def __post_init__(self) -> None:
        for name in ("tries", "start_over_from"):
            if (value := getattr(self, name)) < 1:
                raise UsageError(f"{name} must be 1 or more (got {value})")


class PlanAttempt(msgspec.Struct, frozen=True):
    """A plan that ran, its outcome, and the step-entry checkpoints to resume from."""

    plan: Plan
    outcome: Outcome
    entries: dict[int, Checkpoint]


class RefinementLoop:
    """The loop for one task of an episode. ``source`` is the text of the latest plan.

    With ``is_subtask``, a plan that runs to its end has done the task as far as the loop can tell. ``claim`` is whether
    the last plan ran to its end.
    """

    def __init__(
        self,
        episode: Episode,
        writer: PlanWriter,
        ask: Callable[[str], str],
        sandbox: Sandbox,
        settings: LoopSettings,
        is_subtask: bool = False,
    ) -> None:
        self.episode, self.writer, self.ask, self.sandbox, self.settings = episode, writer, ask, sandbox, settings
        self.agent = episode.agent()
        self.source = ""
        self.claim = False
        self._is_subtask, self._initial_actions = is_subtask, actions_since_reset(episode)
        self._plan_count = 0
        self._plan_before: str | None = None
        self._latest = TakenReply("")
        self._attempt_start = 0  # the latest attempt's first event

    def solve(self) -> Ending:
        """Draft, run, refine and resume until success, the episode's end, or the last try; returns the ending.

        A reply that is too long counts as a refused plan. The loop ends when another text is too long.
        """
        try:
            return self._solve()
        except SizeExceeded as e:
            self.claim = False
            return TooLarge(e.what, e.limit, str(e))

    def _solve(self) -> Ending:
        attempt: PlanAttempt | None = None
        checked = self._draft()
        for number in range(1, self.settings.tries + 1):
            if isinstance(checked, Plan):
                attempt = self._run(checked, attempt, number)
                self.claim = isinstance(attempt.outcome, Finished)
                if self.episode.success or self.episode.observation.done:
                    return EnvironmentEnded()
                if self._is_subtask and self.claim:
                    return Claimed("the plan ran to its end")
            if number < self.settings.tries:
                checked = self._refine(checked, attempt, number)
        if isinstance(checked, Rejected):
            return Refused(f"the last plan was refused: {checked.diagnostics[0]}")
        return NotSolved(f"no success in {self.settings.tries} tries")

    # -------------------------------------------------------------- writing

    def _draft(self) -> Plan | Rejected:
        self._record_draft(self.writer.draft, "plan")
        if self.settings.code_check == "always":
            self._record_draft(lambda: self.writer.repair(self.source, ""), "check")
        return self._check()

    def _refine(self, checked: Plan | Rejected, attempt: PlanAttempt | None, number: int) -> Plan | Rejected:
        """Have a better plan written after run ``number``, and check it."""
        self.episode.meter.reserve_refinement()
        report = self._report(checked, attempt, number)
        self._record_draft(lambda: self.writer.refine(report), "refine")
        return self._check()

    def _report(self, checked: Plan | Rejected, attempt: PlanAttempt | None, number: int) -> RunReport:
        """What happened to the latest plan, which was refused or is that of ``attempt``."""
        next_start: NextStart = "resume"
        if attempt is None or number + 1 >= self.settings.start_over_from:
            next_start = "first step"
        if attempt is not None and self.settings.after_failure == "restart":
            next_start = "reset"
        asks, tries = self.sandbox.limits.asks or None, self.settings.tries - number
        left = limits_left(self.episode, asks=asks, tries=tries, replans=None)
        if isinstance(checked, Rejected):
            problem = describe_refusal(checked)
            return RunReport(source=self.source, problem=problem, left=left, next_start=next_start)
        assert attempt is not None, "a plan that passed the check has run"
        return RunReport(
            source=self.source,
            problem=describe_outcome(attempt.outcome, self.agent.report),
            plan=checked,
            outcome=attempt.outcome,
            events=read_run(self.episode.trace.events[self._attempt_start :]),
            observation=self.episode.observation.text,
            variables=_last_variables(attempt.outcome),
            left=left,
            next_start=next_start,
        )

    def _check(self) -> Plan | Rejected:
        """Check the latest plan. While it is refused, have it repaired, unless ``code_check`` is ``always``."""
        checked = self._check_once()
        for _ in range(MAX_REPAIRS if self.settings.code_check == "on-error" else 0):
            if isinstance(checked, Plan):
                break
            errors = describe_refusal(checked)
            self._record_draft(partial(self.writer.repair, self.source, errors), "check")
            checked = self._check_once()
        return checked

    def _check_once(self) -> Plan | Rejected:
        if self._latest.refusal:
            record_check(self.episode, self._latest.refusal, self._plan_count)
            return self._latest.refusal
        checked = check_plan(self.sandbox, self.episode, self.source, self._plan_count, self.settings.fixes)
        self.source = checked.source
        if self._latest.is_plan:
            self._plan_before = checked.source
        return checked

    def _record_draft(self, write: Callable[[], str], origin: Purpose) -> None:
        """Have a plan written. A reply that is too long is an empty plan with a refusal of its own."""
        try:
            self._latest = take_reply(self.sandbox, write(), None if origin == "plan" else self._plan_before)
        except SizeExceeded as e:
            if e.what != "reply":
                raise
            reason = Diagnostic(0, 0, "reply-size", f"{e}; answer with the program alone")
            self._latest = TakenReply("", is_plan=False, refusal=Rejected("", (reason,)))
        self.source = self._latest.source
        if self._latest.is_plan:
            self._plan_before = self.source
        self._plan_count += 1
        drafted = PlanDrafted(number=self._plan_count, origin=origin, source=self.source, steps=self._latest.steps)
        self.episode.record(drafted)

    # -------------------------------------------------------------- running

    def _run(self, plan: Plan, before: PlanAttempt | None, number: int) -> PlanAttempt:
        start, checkpoint = self._resume_at(plan, before, number)
        self._attempt_start = len(self.episode.trace.events)
        self.episode.record(start_event(self._plan_count, plan, start, checkpoint))
        outcome = run_plan(self.sandbox, self.episode, plan, self.agent, self.ask, start, checkpoint)
        kept = {k: c for k, c in before.entries.items() if k < start} if before else {}
        return PlanAttempt(plan, outcome, kept | outcome.entries)

    def _resume_at(self, plan: Plan, before: PlanAttempt | None, number: int) -> tuple[int, Checkpoint | None]:
        """The step to start from and its variables; None starts afresh."""
        first = plan.steps[0].number if plan.steps else 1
        if before is not None and self.settings.after_failure == "restart":
            rewind(self.episode, self._initial_actions)
            self.agent = self.episode.agent()
            return first, None
        if before is None or number >= self.settings.start_over_from:
            return first, None
        failed = None if isinstance(before.outcome, Finished) else before.outcome.step
        states = before.entries | self._last_state(plan, before)
        suggested = None
        if self.settings.resume_by == "model":
            suggested = plan.start_from or self.writer.resume_step(before.plan.source, plan.source)
        step = find_resume_point(before.plan, plan, failed, states, suggested)
        return step, states.get(step)

    def _last_state(self, plan: Plan, before: PlanAttempt) -> dict[int, Checkpoint]:
        """The variables at the end of the previous run, by the step that they belong to.

        That is the failed step or, after a run to the end, the first step that ``plan`` adds.
        """
        state, last = before.outcome.checkpoint, before.outcome.step
        if state is None or last is None:
            return {}
        if isinstance(before.outcome, Finished):
            return {s.number: state for s in plan.steps if s.number == last + 1}
        return {last: state} if self.settings.resume_state == "failure" else {}


def _last_variables(outcome: Outcome) -> Checkpoint:
    """The variables at the end of a run, or at the last step's entry if the host killed the worker."""
    if outcome.checkpoint is not None:
        return outcome.checkpoint
    return outcome.entries[max(outcome.entries)] if outcome.entries else Checkpoint()
