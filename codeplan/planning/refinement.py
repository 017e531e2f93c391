"""The refinement loop: draft a plan, run it, refine it from what went wrong, resume it.

This is AdaPlanner's loop (Sun et al., NeurIPS 2023, section 3 and Algorithm 1). ``find_resume_point`` finds the step to
resume at; the ``PlanWriter`` writes the plans; everything that happens goes through the Episode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from codeplan.agent_interface import report_of
from codeplan.episode.episode import Episode, actions_since_reset, require_fresh_world, rewind
from codeplan.errors import SizeExceeded, UsageError
from codeplan.planning.feedback import (
    Exchange,
    NextStart,
    RunEvents,
    RunReport,
    blind_outcome,
    limits_left,
    read_run,
    words_if_blind,
)
from codeplan.planning.outcomes import RunEnd, describe_outcome, describe_refusal, ended_by_user, gave_up, run_end
from codeplan.planning.plan_run import (
    SandboxSettings,
    TakenReply,
    begin_plan,
    check_plan,
    ending_of_value,
    record_check,
    run_plan,
    take_reply,
    without_timing,
)
from codeplan.planning.planner import PlanWriter
from codeplan.plugins import Setting
from codeplan.recording.events import Event, PlanDrafted, PlanEnded, PlanStarted, StepEntered
from codeplan.sandbox import Sandbox
from codeplan.types import (
    Checkpoint,
    Claimed,
    Diagnostic,
    Ending,
    EnvironmentEnded,
    Failed,
    Finished,
    GaveUp,
    GiveUp,
    NoProgress,
    NotSolved,
    Observation,
    Outcome,
    Plan,
    Purpose,
    Refused,
    Rejected,
    Replan,
    Stopped,
    TooLarge,
    Value,
)
from codeplan.untrusted.texts import with_count
from codeplan.untrusted.values import in_quotes

ResumeState = Literal["failure", "entry"]
"""The variables with which an unfinished step resumes: those at its failure, or those at its entry."""


class PlanAttempt(msgspec.Struct, frozen=True):
    """A plan that ran, its outcome, and the step-entry checkpoints to resume from."""

    plan: Plan
    outcome: Outcome
    entries: dict[int, Checkpoint]


BROKEN_OFF = "broken off"
"""The limit of a ``Stopped`` run whose trace does not say how it ended."""


def last_attempt(events: Sequence[Event], plan: Plan, earlier: Mapping[int, Checkpoint]) -> PlanAttempt:
    """The attempt that a trace records: the last start of ``plan``, with how it ended and the steps it entered.

    ``earlier`` are the checkpoints of steps before the one at which it started.
    """
    entries = dict(earlier)
    outcome: Outcome | None = None
    step: int | None = None
    for event in events:
        match event:
            case PlanStarted():
                outcome, step = None, None
                entries |= {event.start_from: event.checkpoint} if event.checkpoint else {}
            case StepEntered():
                step = event.step
                entries[event.step] = event.checkpoint
            case PlanEnded():
                outcome = event.outcome
    if outcome is None:
        outcome = Stopped(BROKEN_OFF, 0, 0, step, None, "the run was broken off")
    return PlanAttempt(plan, replace(outcome, entries=entries), entries)


class MissingVariable(NamedTuple):
    """A variable of the run before that a plan reads, and that is not among those with which it would go on.

    ``reader`` is the step that reads it, None for the code after the last step; ``start`` the step at which the plan
    would go on. ``better`` is the step at which it could go on with the variable if no earlier step were changed; None
    if there is none.
    """

    name: str
    reader: int | None
    start: int
    better: int | None

    def refuse(self, plan: Plan) -> Rejected:
        """The refusal of the plan."""
        step = plan.step(self.reader)
        who = f"step {self.reader}" if step else "the code after the last step"
        where = f"in step {self.reader}" if step else f"in step {plan.steps[-1].number}"
        leave = f"leave the steps before step {self.better} as they were, or " if self.better else ""
        message = (
            f"{who} reads `{self.name}`, which is not among the variables with which the plan goes on at step "
            f"{self.start}; {leave}set it {where} before it is read"
        )
        return Rejected(plan.source, (Diagnostic(step.line if step else 0, 0, "name-unset", message),), plan.fixes)


def find_resume_point(
    old: Plan, new: Plan, failed_step: int | None, states: dict[int, Checkpoint], suggested_step: int | None = None
) -> int | MissingVariable:
    """The step at which ``new`` resumes after ``old`` ended at ``failed_step`` (None: all its steps are done).

    That is the first step whose syntax differs (or ``suggested_step``, the plan writer's answer), but no later than the
    failed step. From there it moves back to a step with saved variables that include every name which the remaining
    steps need and earlier steps, or the run before, could have set. MissingVariable if there is no such step, and the
    plan reads a variable of the run before.
    """
    numbers = [s.number for s in new.steps]
    if not numbers:
        return 1
    wanted = suggested_step or _first_difference(old, new) or failed_step or numbers[0]
    candidate = min(wanted, failed_step or numbers[-1])
    complete = list(_complete_steps(new, states))
    step = next((step for step in complete if step <= candidate), None)
    if step is not None or not new.kept:
        return step or numbers[0]
    better = next((step for step in complete if step <= (failed_step or numbers[-1])), None)
    return _find_missing(new, states, candidate, better) or numbers[0]


def _find_missing(
    plan: Plan, states: dict[int, Checkpoint], candidate: int, better: int | None
) -> MissingVariable | None:
    """The first variable of the run before that is missing at the last possible start, or at the first step, where the
    plan begins if it cannot go on; None if none is.
    """
    starts = [s.number for s in plan.steps if s.number in states and s.number <= candidate][::-1]
    for start in [*starts, plan.steps[0].number]:
        have = {*plan.provides, *(states[start].names if start in states else ())}
        for step in (s for s in plan.steps if s.number >= start):
            if missing := [name for name in step.needs if name in plan.kept and name not in have]:
                return MissingVariable(missing[0], step.number, start, better)
            have.update(step.sets)
        if missing := [name for name in plan.needs if name in plan.kept and name not in have]:
            return MissingVariable(missing[0], None, start, better)
    return None


def missing_at_end(plan: Plan, state: Checkpoint | None, start: int) -> MissingVariable | None:
    """A variable that the code after the last step lacks if only that runs, from ``start`` on; None if none."""
    have = {*plan.provides, *(state.names if state else ())}
    name = next((name for name in plan.needs if name in plan.kept and name not in have), None)
    return None if name is None else MissingVariable(name, None, start, None)


def saved_names(before: PlanAttempt) -> frozenset[str]:
    """The names of the variables that a resumed plan may start with: at the end of the run, or at a step's entry."""
    last = before.outcome.checkpoint
    return frozenset().union(*(c.names for c in (*before.entries.values(), *([last] if last else []))))


def set_names(plan: Plan) -> frozenset[str]:
    """The names that a plan sets, in its steps and outside them."""
    return frozenset(plan.provides).union(*(step.sets for step in plan.steps))


def step_after_all(before: PlanAttempt, plan: Plan) -> int | None:
    """If a run has done all steps of the plan: the number after the last one. None if a step is left to do.

    A run that starts there does only what is outside the steps, such as a changed ``return``.
    """
    done = isinstance(before.outcome, Finished) and plan.steps and _first_difference(before.plan, plan) is None
    return plan.steps[-1].number + 1 if done else None


def unfinished_step(before: PlanAttempt, plan: Plan) -> int | None:
    """The step of the new ``plan`` to do next after a run; None if only a comparison with ``plan`` can tell.

    That is the step in which the run failed, or the one after a step that is done. A step that asked to replan counts
    as done if its block ended with that, or if the new plan has the same step, which would only repeat it.
    """
    outcome = before.outcome
    if isinstance(outcome, Finished):
        return None
    return _next_step(before, plan) or outcome.step


def last_state(plan: Plan, before: PlanAttempt, resume_state: ResumeState) -> dict[int, Checkpoint]:
    """The variables at the end of a run, by the step of the new ``plan`` that may resume with them."""
    state, last = before.outcome.checkpoint, before.outcome.step
    if state is None or last is None:
        return {}
    following = _next_step(before, plan)
    states = {} if following is None else {following: state}
    done = isinstance(before.outcome, Finished) or _is_done_replan(before.outcome)
    return states if done or resume_state != "failure" else states | {last: state}


def _is_done_replan(outcome: Outcome) -> bool:
    return isinstance(outcome, Replan) and outcome.step_done


def _next_step(before: PlanAttempt, plan: Plan) -> int | None:
    """The step of ``plan`` after the last one of a run that did all of it; None if there is none."""
    outcome = before.outcome
    same = isinstance(outcome, Replan) and _digest(before.plan, outcome.step) == _digest(plan, outcome.step)
    done = isinstance(outcome, Finished) or _is_done_replan(outcome) or same
    following = plan.step(outcome.step + 1) if done and outcome.step is not None else None
    return following.number if following else None


def _digest(plan: Plan, step: int | None) -> str | None:
    found = plan.step(step)
    return found.digest if found else None


def _first_difference(old: Plan, new: Plan) -> int | None:
    """The number of the first step of ``new`` that ``old`` does not have; None if there is none."""
    for i, step in enumerate(new.steps):
        if i >= len(old.steps) or (old.steps[i].number, old.steps[i].digest) != (step.number, step.digest):
            return step.number
    return None


def _complete_steps(plan: Plan, states: dict[int, Checkpoint]) -> Iterator[int]:
    """The steps, last first, whose saved variables include all that they and later steps need from earlier ones.

    Linear in the plan's names, because a hostile worker may claim many. Names that neither an earlier step certainly
    sets nor the run before has set are not required.
    """
    first_set: dict[str, int] = {}
    for step in plan.steps:
        for name in step.sets:
            first_set.setdefault(name, step.number)
    provided, kept = {*plan.provides}, {*plan.kept}
    needed = {name for name in plan.needs if name in kept and name not in provided}
    for step in reversed(plan.steps):
        needed.difference_update(step.sets)
        required = (n for n in step.needs if n in kept or first_set.get(n, step.number) < step.number)
        needed.update(n for n in required if n not in provided)
        if step.number in states and needed <= states[step.number].names.keys():
            yield step.number


ResumeBy = Literal["syntax", "model"]
CodeCheck = Literal["on-error", "always"]
AfterFailure = Literal["resume", "restart"]


class LoopSettings(SandboxSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the loop.

    The defaults are the paper's limits. Where code can do the work of one of the paper's model calls, code does it.

    ``tries`` limits the runs of a plan; from run ``start_over_from`` on, plans start at step 1 again, but never where
    actions are real. ``resume_by`` finds the step to resume at by a comparison of syntax, or asks the model, as in the
    paper. ``code_check`` sends a new plan back for repair if the check refuses it, or always, as in the paper (which
    then relies on refinement alone). ``resume_state`` is what the failed step resumes with: the variables at the
    failure, or those at its entry. ``fixes`` says whether the check mends plans without a model.
    ``after_failure="restart"`` is for comparison: it resets the environment and starts each plan at step 1. A plan's
    first ``replans`` replans cost no try; each further one does. Replans after an answer of the user, and calls that
    the user refused with a reason, cost neither. The loop ends after ``no_progress`` refinements in a row that changed
    nothing (0: never).

    Raises: UsageError: ``tries`` or ``start_over_from`` is below 1, ``replans`` or ``no_progress`` below 0.
    """

    tries: Annotated[int, Setting("Runs of a plan at most.", "safe", most=1000)] = 6
    start_over_from: Annotated[
        int, Setting("From this run on, plans start at step 1 again; with tools never.", "safe", most=1000)
    ] = 4
    resume_by: Annotated[ResumeBy, Setting("Who finds the step to resume at: code or the model.", "safe")] = "syntax"
    code_check: Annotated[CodeCheck, Setting("When the model repairs a new plan.", "safe")] = "on-error"
    resume_state: Annotated[ResumeState, Setting("The variables that the failed step resumes with.", "safe")] = (
        "failure"
    )
    after_failure: Annotated[AfterFailure, Setting("Resume the plan, or restart plan and task.", "safe")] = "resume"
    replans: Annotated[int, Setting("Replans that a plan may ask for without using a try.", "safe", most=1000)] = 3
    no_progress: Annotated[
        int, Setting("End after so many refinements that change nothing; 0: never.", "safe", most=1000)
    ] = 2

    def __post_init__(self) -> None:
        for name, least in {"tries": 1, "start_over_from": 1, "replans": 0, "no_progress": 0}.items():
            if (value := getattr(self, name)) < least:
                raise UsageError(f"{name} must be {least} or more (got {value})")


_MAX_OBSERVATION: Final = 300  # characters of the last observation in an ending


class _TaskState(Value, frozen=True):
    """What a run led to, with the last observation. A refused plan did not run; ``diagnostics`` are what the check
    found.
    """

    end: RunEnd
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
        self._last: _TaskState | None = None
        self._known: set[tuple[str, str]] = set()  # actions with their answers

    def find_standstill(
        self, outcome: Outcome | Rejected, observation: Observation, exchanges: Sequence[Exchange]
    ) -> NoProgress | None:
        """The ending if this run or refusal shows that there is no progress; ``exchanges`` are those of the run."""
        now, before = _state_after(outcome, observation), self._last
        actions = {(e.said, e.answer) for e in exchanges if e.number is not None}
        idle = before is not None and before.end.kind == now.end.kind == "replan" and not actions
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


def _state_after(outcome: Outcome | Rejected, observation: Observation) -> _TaskState:
    if isinstance(outcome, Rejected):
        return _TaskState(RunEnd("refused"), observation, outcome.diagnostics)
    return _TaskState(run_end(outcome), observation)


def _count(refinements: int) -> str:
    return "a refinement" if refinements == 1 else f"{refinements} refinements in a row"


def _describe(state: _TaskState) -> str:
    end = state.end
    if state.diagnostics:
        return f"each plan was refused: {state.diagnostics[0]}"
    if end.kind == "finished":
        return f"each plan ran to its end; then came: {in_quotes(state.observation.text, _MAX_OBSERVATION)}"
    where = f"in step {end.step}" if end.step is not None else "outside the steps"
    return f"each plan {'asked to replan' if end.kind == 'replan' else f'ended with {end.error}'} {where}"


MAX_REPAIRS = 2
"""Repairs of a refused plan, at most, before it counts as a try."""


class RefinementLoop:
    """The loop for one task of an episode. ``source`` is the text of the latest plan, ``attempt`` its latest run, None
    before the first.

    With ``is_subtask``, the loop takes a plan that runs to its end as success. ``claim`` is whether the last plan ran
    to its end. With ``repairs_first``, the first plan is sent for repair before it is checked.
    """

    def __init__(
        self,
        episode: Episode,
        writer: PlanWriter,
        ask: Callable[[str], str],
        sandbox: Sandbox,
        settings: LoopSettings,
        is_subtask: bool = False,
        *,
        repairs_first: bool = False,
    ) -> None:
        self._repairs_first = repairs_first
        self.episode, self.writer, self.ask, self.sandbox, self.settings = episode, writer, ask, sandbox, settings
        self.agent = episode.agent()
        self.source = ""
        self.claim = False
        self.is_subtask, self._initial_actions = is_subtask, actions_since_reset(episode)
        self._plan_count = 0
        self._plan_before: str | None = None
        self._latest = TakenReply("")
        self._attempt_start = 0  # the latest attempt's first event
        self._attempt_end: int | None = None  # and the number of events after it; None while it runs
        self._checked: Plan | Rejected | None = None  # the latest plan
        self.attempt: PlanAttempt | None = None
        self._read: tuple[object, RunEvents] | None = None  # the latest run that was read: its place, and its content
        self._last_run: RunReport | None = None  # for repairs, since the latest refinement
        self._tries = self._replans = 0  # tries and replans used so far
        self._allowed_tries = settings.tries
        self._is_blind = episode.is_blind
        self._progress = ProgressMonitor(settings.no_progress)
        self._replanned_steps: set[tuple[int, str]] = set()  # steps that asked for a replan, by number and digest

    def solve(self) -> Ending:
        """Draft, run, refine and resume until success, the episode's end, or the last try; returns the ending.

        A reply that is too long counts as a refused plan. The loop ends when another text is too long.

        Raises: UsageError: the settings start over, but actions are real here.
        """
        if self.settings.after_failure == "restart":
            require_fresh_world(self.episode, "after_failure=restart", "after_failure=resume")
        while (ending := self.advance()) is None:
            pass
        return ending

    def advance(self) -> Ending | None:
        """Write the first plan or the next one, and run it; the ending, None if the loop goes on."""
        return self.write() or self.play()

    def write(self) -> Ending | None:
        """Write the first plan or the next one, without running it; the ending if a text is too long."""
        try:
            self._checked = self._draft() if self._checked is None else self._refine(self._checked, self.attempt)
            return None
        except SizeExceeded as e:
            return self._too_large(e)

    def play(self) -> Ending | None:
        """Run the plan that was written; the ending, None if the loop goes on."""
        assert self._checked is not None, "a plan is written before it is played"
        try:
            ending = self._play(self._checked)
            self._attempt_end = len(self.episode.trace.events)
            return ending
        except SizeExceeded as e:
            return self._too_large(e)

    def _too_large(self, error: SizeExceeded) -> TooLarge:
        self.claim = False
        return TooLarge(error.what, error.limit, str(error))

    def _play(self, checked: Plan | Rejected) -> Ending | None:
        ended: Outcome | Rejected = checked if isinstance(checked, Rejected) else self._run(checked).outcome
        if not isinstance(ended, Rejected):
            ending = self._ending_after(ended)
            if ending and not (isinstance(ending, GaveUp) and self._goes_on()):
                return ending
        self._count_attempt(ended)
        if self._tries >= self._allowed_tries and not self._goes_on():
            if isinstance(checked, Rejected):
                return Refused(f"the last plan was refused: {checked.diagnostics[0]}")
            return NotSolved(f"no success in {with_count(self._allowed_tries, 'try', 'tries')}")
        exchanges = () if isinstance(ended, Rejected) else self._run_events().exchanges
        standstill = self._progress.find_standstill(ended, self.episode.observation, exchanges)
        return standstill if standstill and not self._goes_on() else None

    @property
    def steps_done(self) -> float:
        """The share of the latest plan's steps whose assertions held, from 0 to 1; 0 if the plan was refused."""
        if self.attempt is None or not isinstance(self._checked, Plan):
            return 0.0
        if isinstance(self.attempt.outcome, Finished):
            return 1.0
        steps, following = self.attempt.plan.steps, unfinished_step(self.attempt, self.attempt.plan) or 0
        return sum(step.number < following for step in steps) / max(1, len(steps))

    def _goes_on(self) -> bool:
        """Whether the episode had ended here before, and goes on with further tries."""
        if not self.episode.further_tries:
            return False
        self._allowed_tries = self._tries + self.episode.further_tries
        self._progress = ProgressMonitor(self.settings.no_progress)
        return True

    def _ending_after(self, outcome: Outcome) -> Ending | None:
        """The ending that a run causes; None if the task continues."""
        self.claim = isinstance(outcome, Finished)
        if self.is_subtask:
            self.episode.note_outcome(outcome)
        elif claimed := ending_of_value(self.episode, outcome):
            return claimed
        if self.episode.success or self.episode.is_over:
            return EnvironmentEnded()
        if self.is_subtask and self.claim:
            return Claimed("the plan ran to its end")
        if isinstance(outcome, GiveUp):
            return gave_up(outcome)
        return None

    def _count_attempt(self, ended: Outcome | Rejected) -> None:
        """Count a used try, or a replan while replans are left. A refused plan is a try.

        What the user says costs neither: the user's patience and the budget in model calls limit it.
        """
        if not isinstance(ended, Rejected) and ended_by_user(ended, self.episode.trace.events[self._attempt_start :]):
            return
        if isinstance(ended, Replan) and self._replans < self.settings.replans:
            self._replans += 1
        else:
            self._tries += 1

    # -------------------------------------------------------------- writing

    def _draft(self) -> Plan | Rejected:
        self._record_draft(self.writer.draft, "plan")
        if self._repairs_first or self.settings.code_check == "always":
            self._record_draft(lambda: self.writer.repair(self.source, "", None), "check")
        return self._check(None)

    def _refine(self, checked: Plan | Rejected, attempt: PlanAttempt | None) -> Plan | Rejected:
        self.episode.meter.reserve("refinements")
        report = self._report(checked, attempt)
        self._record_draft(lambda: self.writer.refine(report), "refine")
        return self._check(attempt)

    def _report(self, checked: Plan | Rejected, attempt: PlanAttempt | None) -> RunReport:
        """The report on the latest plan, which was refused or ran as ``attempt``."""
        next_start: NextStart = "resume"
        if attempt is None or not isinstance(attempt.outcome, Replan):
            if attempt is None or self._starts_over:
                next_start = "first step"
            if attempt is not None and self.settings.after_failure == "restart":
                next_start = "reset"
        asks, tries = self.sandbox.limits.asks or None, self._allowed_tries - self._tries
        replans = self.settings.replans - self._replans if self.settings.replans else None
        left = limits_left(self.episode, asks=asks, tries=tries, replans=replans)
        if isinstance(checked, Rejected):
            problem = describe_refusal(checked)
            refused = RunReport(source=self.source, problem=problem, left=left, next_start=next_start)
            return msgspec.structs.replace(refused, last_run=self._last_run)
        assert attempt is not None, "a plan that passed the check has run"
        told = describe_outcome(attempt.outcome, partial(report_of, self.agent))
        observed = self.episode.observation.text
        hides = self._is_blind and not isinstance(attempt.outcome, Finished)  # then it is the verifier's verdict
        self._last_run = RunReport(
            source=self.source,
            problem=blind_outcome(attempt.outcome, told) if self._is_blind else told,
            plan=checked,
            outcome=attempt.outcome,
            events=self._run_events(),
            observation="" if hides else observed,
            is_blind=self._is_blind,
            variables=self._shown_variables(attempt, next_start),
            left=left,
            next_start=next_start,
        )
        return self._last_run

    def _shown_variables(self, attempt: PlanAttempt, next_start: NextStart) -> Checkpoint:
        """The variables to tell of: those with which the step that failed resumes, or those at the run's end."""
        at_entry = self.settings.resume_state == "entry" and next_start == "resume"
        if at_entry and isinstance(attempt.outcome, Failed | Stopped) and attempt.outcome.step in attempt.entries:
            return attempt.entries[attempt.outcome.step]
        return _last_variables(attempt.outcome)

    def _run_events(self) -> RunEvents:
        """The content of the latest run's events."""
        words = words_if_blind(self.episode)
        place = self._attempt_start, self._attempt_end, words
        if self._read is None or self._read[0] != place:
            events = self.episode.trace.events[self._attempt_start : self._attempt_end]
            self._read = place, read_run(events, blind=words)
        return self._read[1]

    def _check(self, before: PlanAttempt | None) -> Plan | Rejected:
        """Check the latest plan. While it is refused, have it repaired, unless ``code_check`` is ``always``."""
        checked = self._check_once(before)
        for _ in range(MAX_REPAIRS if self.settings.code_check == "on-error" else 0):
            if isinstance(checked, Plan):
                break
            errors = describe_refusal(checked)
            self._record_draft(partial(self.writer.repair, self.source, errors, self._last_run), "check")
            checked = self._check_once(before)
        return checked

    def _check_once(self, before: PlanAttempt | None) -> Plan | Rejected:
        if self._latest.refusal:
            record_check(self.episode, self._latest.refusal, self._plan_count)
            return self._latest.refusal
        checked = check_plan(
            self.sandbox,
            self.episode,
            self.source,
            self._plan_count,
            self.settings.fixes,
            kept={*self.episode.history.variables, *(saved_names(before) if before else ())},
            starts_over=before is not None and not self._resumes(before),
            set_before=set_names(before.plan) if before else (),
            judge=lambda plan: self._refuse_missing(plan, before),
        )
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

    def _run(self, plan: Plan) -> PlanAttempt:
        before = self.attempt
        start, checkpoint = self._resume_at(plan, before)
        self._attempt_start, self._attempt_end = len(self.episode.trace.events), None
        entries = {k: c for k, c in before.entries.items() if k < start} if before else {}
        entries |= {start: checkpoint} if checkpoint else {}
        while True:
            where, shows_data = (self._plan_count, plan, start, checkpoint), not self._is_blind
            begin_plan(self.sandbox, self.episode, *where, shows_data=shows_data)
            outcome = run_plan(self.sandbox, self.episode, plan, self.agent, self.ask, start, checkpoint)
            outcome = without_timing(outcome)
            entries |= outcome.entries
            following = self._already_written(plan, outcome)
            if following is None:
                self.attempt = PlanAttempt(plan, outcome, entries)
                return self.attempt
            start, checkpoint = following, outcome.checkpoint

    def _already_written(self, plan: Plan, outcome: Outcome) -> int | None:
        """The step that an earlier replan of this step led to; None if this step has not asked before.

        A plan that was extended keeps its ``replan``, which runs again when the plan starts over. Another step with the
        same code counts as a new request. Otherwise a plan of such steps could go on without any counted model call.
        """
        if not isinstance(outcome, Replan) or not outcome.step_done or outcome.step is None:
            return None
        step, following = plan.step(outcome.step), plan.step(outcome.step + 1)
        if step and following and (step.number, step.digest) in self._replanned_steps:
            return following.number
        self._replanned_steps |= {(step.number, step.digest)} if step else set()
        return None

    def _states(self, plan: Plan, before: PlanAttempt) -> dict[int, Checkpoint]:
        """The variables with which the plan may go on after a run, by step."""
        states = before.entries | last_state(plan, before, self.settings.resume_state)
        return {step: self._with_history(plan, state) or state for step, state in states.items()}

    def _with_history(self, plan: Plan, state: Checkpoint | None) -> Checkpoint | None:
        """The variables with those of earlier turns, or of the user, that the plan names and does not have."""
        return self.episode.history.complete(state, plan.source, self.sandbox.limits.checkpoint_bytes)

    @property
    def _starts_over(self) -> bool:
        """Whether the next run starts at step 1 after a failure. Real actions are not done again."""
        return self._tries + 1 >= self.settings.start_over_from and not self.episode.acts_for_real

    def _resumes(self, before: PlanAttempt | None) -> bool:
        """Whether the next run goes on from the run ``before``, with its variables."""
        if before is None or isinstance(before.outcome, Replan):
            return before is not None
        return self.settings.after_failure != "restart" and not self._starts_over

    def _refuse_missing(self, plan: Plan, before: PlanAttempt | None) -> Rejected | None:
        """The refusal of a plan that reads a variable of the run before where it would go on without it."""
        if before is None or not self._resumes(before):
            return None
        if self.episode.acts_for_real and (end := step_after_all(before, plan)):
            missing = missing_at_end(plan, self._with_history(plan, before.outcome.checkpoint), end)
            return missing.refuse(plan) if missing else None
        states = self._states(plan, before)
        found = find_resume_point(before.plan, plan, unfinished_step(before, plan), states)
        return found.refuse(plan) if isinstance(found, MissingVariable) else None

    def _resume_at(self, plan: Plan, before: PlanAttempt | None) -> tuple[int, Checkpoint | None]:
        """The step to start from and its variables; None means a start from step 1. A replan is no failure: it always
        resumes.
        """
        first = plan.steps[0].number if plan.steps else 1
        if before is None:
            return first, self._with_history(plan, None)
        if not isinstance(before.outcome, Replan):
            if self.settings.after_failure == "restart":
                rewind(self.episode, self._initial_actions)
                self.agent = self.episode.agent()
                return first, None
            if self._starts_over:
                return first, None
        if self.episode.acts_for_real and (end := step_after_all(before, plan)):
            return end, self._with_history(plan, before.outcome.checkpoint)
        states = self._states(plan, before)
        suggested = None
        if self.settings.resume_by == "model":
            suggested = plan.start_from or self.writer.resume_step(before.plan.source, plan.source)
        failed = unfinished_step(before, plan)
        step = find_resume_point(before.plan, plan, failed, states, suggested)
        if isinstance(step, MissingVariable):  # the suggestion leads to a step without a variable
            step = find_resume_point(before.plan, plan, failed, states)
        assert not isinstance(step, MissingVariable), "such a plan was refused"
        return step, states.get(step)


def _last_variables(outcome: Outcome) -> Checkpoint:
    """The variables at the end of a run, or at the last step's entry if the host killed the worker."""
    if outcome.checkpoint is not None:
        return outcome.checkpoint
    return outcome.entries[max(outcome.entries)] if outcome.entries else Checkpoint()
