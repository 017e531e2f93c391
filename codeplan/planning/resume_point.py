"""Finds the step at which a refined plan resumes, from the syntax of both plans and the saved names."""

from __future__ import annotations

from collections.abc import Iterator

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
    return next((step for step in _complete_steps(new, states) if step <= candidate), numbers[0])


def _first_difference(old: Plan, new: Plan) -> int | None:
    """The number of the first step of ``new`` that ``old`` does not have; None if there is none."""
    for i, step in enumerate(new.steps):
        if i >= len(old.steps) or (old.steps[i].number, old.steps[i].digest) != (step.number, step.digest):
            return step.number
    return None


def _complete_steps(plan: Plan, states: dict[int, Checkpoint]) -> Iterator[int]:
    """The steps, last first, whose saved variables include all that they and later steps need from earlier ones.

    Linear in the plan's names, for a worker may claim many. A need that no earlier step sets is not asked for.
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
