"""Finds the step at which a refined plan resumes, from the syntax of both plans and the saved names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from codeplan.recording.events import Event, PlanEnded, PlanStarted, StepEntered
from codeplan.types import Checkpoint, Finished, Outcome, Plan, Replan, Stopped

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


def find_resume_point(
    old: Plan, new: Plan, failed_step: int | None, states: dict[int, Checkpoint], suggested_step: int | None = None
) -> int:
    """The step at which ``new`` resumes after ``old`` ended at ``failed_step`` (None: all its steps are done).

    That is the first step whose syntax differs (or ``suggested_step``, the plan writer's answer), but no later than the
    failed step. From there it moves back to a step with saved variables that include every name which the remaining
    steps need and earlier steps could have set.
    """
    numbers = [s.number for s in new.steps]
    if not numbers:
        return 1
    wanted = suggested_step or _first_difference(old, new) or failed_step or numbers[0]
    candidate = min(wanted, failed_step or numbers[-1])
    return next((step for step in _complete_steps(new, states) if step <= candidate), numbers[0])


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

    Linear in the plan's names, because a hostile worker may claim many. Names that no earlier step sets are not
    required.
    """
    first_set: dict[str, int] = {}
    for step in plan.steps:
        for name in step.sets:
            first_set.setdefault(name, step.number)
    provided = {*plan.provides}
    needed: set[str] = set()
    for step in reversed(plan.steps):
        needed.difference_update(step.sets)
        needed.update(n for n in step.needs if n not in provided and first_set.get(n, step.number) < step.number)
        if step.number in states and needed <= states[step.number].names.keys():
            yield step.number
