"""Tests for a library: every active skill is run again, on tasks that it has solved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codeplan.curation.episodes import Lab
from codeplan.errors import UsageError
from codeplan.skills.library import Library
from codeplan.skills.only import OnlyThese
from codeplan.skills.values import Skill, Trial
from codeplan.types import Task, Value


class Checked(Value, frozen=True):
    """A skill that was run again: how many of the tasks it solved; ``unsolved`` are the others' ids."""

    skill: str
    env: str
    tasks: int
    solved: int
    unsolved: tuple[str, ...]


def check(
    lab: Lab,
    library: Library,
    skills: Sequence[Skill],
    most: int = 5,
    done: Callable[[Checked], None] = lambda checked: None,
) -> list[Checked]:
    """Run each skill's own plan on tasks that it came from or has solved, ``most`` of them, and record it as evidence.

    The parameters are bound by one ask; nothing is planned. A skill that mostly fails now is not shown any more.
    """
    there = {t.id: t for split in lab.splits() for t in lab.tasks(split)}
    rows: list[Checked] = []
    for skill in skills:
        row = _checked(lab, library, skill, _tasks_of(library, skill, there, most))
        done(row)
        rows.append(row)
    return rows


def _tasks_of(library: Library, skill: Skill, there: dict[str, Task], most: int) -> list[Task]:
    solved = [t.task for t in library.trials(skill) if t.shown and t.success and t.version == skill.version]
    named = dict.fromkeys([*(o.task for o in skill.origins), *solved])
    return [there[name] for name in named if name in there][:most]


def run_alone(lab: Lab, library: Library, skill: Skill, tasks: Sequence[Task]) -> list[bool]:
    """Run a skill's own plan on tasks, its parameters bound by one ask, and record it; success on each.

    A task whose episode broke is left out.
    """
    given = {"library": OnlyThese(skill), "reuse": True, "tries": 1}
    ran = lab.each(lambda t: lab.plan(t, f"alone-{skill.name}", **given), tasks)
    for r in ran:
        if r is not None:
            task = r.result.task
            trial = Trial(task.id, task.seed, lab.model, True, r.result.success, skill.version, "check", r.run)
            library.record(skill, trial)
    return [r.result.success for r in ran if r is not None]


def _checked(lab: Lab, library: Library, skill: Skill, tasks: Sequence[Task]) -> Checked:
    if not tasks:
        raise UsageError(f"none of the tasks of {skill.env}/{skill.name} is there; are its data and settings the same?")
    outcomes = [(task, run_alone(lab, library, skill, [task])) for task in tasks]
    unsolved = tuple(task.id for task, solved in outcomes if solved == [False])
    ran = sum(len(solved) for _, solved in outcomes)
    return Checked(skill.name, skill.env, ran, ran - len(unsolved), unsolved)
