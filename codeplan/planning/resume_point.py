"""Finds the step at which a refined plan resumes, from the syntax of both plans and the saved names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from codeplan.recording.events import Event, PlanEnded, PlanStarted, StepEntered
from codeplan.types import Checkpoint, Diagnostic, Finished, Outcome, Plan, Rejected, Replan, Stopped

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
