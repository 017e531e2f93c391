"""Finds the step at which a refined plan resumes, from the syntax of both plans and the saved names."""

from __future__ import annotations

from codeplan.types import Checkpoint, Plan


def find_resume_point(
    old: Plan, new: Plan, failed_step: int | None, states: dict[int, Checkpoint], suggested_step: int | None = None
) -> int:
    """The step at which ``new`` resumes after ``old`` ended at ``failed_step`` (None: it ran to its end).

    That is the first step whose syntax differs (or ``suggested_step``, the plan writer's answer), but no later than the
    failed step. From there it moves back to a step with saved variables that include every name which the remaining
    steps need and earlier steps could have set.
    """
    numbers = [s.number for s in new.steps]
    if not numbers:
        return 1
    wanted = suggested_step or _first_difference(old, new) or failed_step or numbers[0]
    candidate = min(wanted, failed_step or numbers[-1])
    for step in reversed([n for n in numbers if n <= candidate]):
        if step in states and not _missing_names(new, step, states[step]):
            return step
    return numbers[0]


def _first_difference(old: Plan, new: Plan) -> int | None:
    """The number of the first step of ``new`` that ``old`` does not have; None if there is none."""
    for i, step in enumerate(new.steps):
        if i >= len(old.steps) or (old.steps[i].number, old.steps[i].digest) != (step.number, step.digest):
            return step.number
    return None


def _missing_names(plan: Plan, start: int, state: Checkpoint) -> set[str]:
    """Names that the steps from ``start`` on need, and that only earlier steps set."""
    have, missing = {*plan.provides, *state.names}, set[str]()
    for step in (s for s in plan.steps if s.number >= start):
        missing |= {*step.needs} - have
        have |= {*step.sets}
    return missing & {name for s in plan.steps if s.number < start for name in s.sets}
