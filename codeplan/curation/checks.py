"""Tests for a library: every active skill is run again, on tasks that it has solved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codeplan.curation.curation_runner import CurationRunner
from codeplan.errors import UsageError
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceRecord, Skill
from codeplan.skills.stores import FixedStore
from codeplan.types.task import Task
from codeplan.types.value import Value


class SkillCheck(Value, frozen=True):
    """A skill that was run again: how many of the tasks it solved; ``unsolved`` are the others' ids."""

    skill: str
    env: str
    tasks: int
    solved: int
    unsolved: tuple[str, ...]


def check_skills(
    runner: CurationRunner,
    library: SkillLibrary,
    skills: Sequence[Skill],
    max_tasks: int = 5,
    on_result: Callable[[SkillCheck], None] = lambda checked: None,
) -> list[SkillCheck]:
    """Run each skill's own plan on tasks that it came from or has solved, ``most`` of them, and record it as evidence.

    The parameters are bound by one ask; nothing is planned. A skill that mostly fails now is not shown any more.
    """
    there = {t.id: t for split in runner.splits() for t in runner.tasks(split)}
    rows: list[SkillCheck] = []
    for skill in skills:
        row = _check_skill(runner, library, skill, _known_tasks(library, skill, there, max_tasks))
        on_result(row)
        rows.append(row)
    return rows


def _known_tasks(library: SkillLibrary, skill: Skill, there: dict[str, Task], most: int) -> list[Task]:
    solved = [t.task for t in library.read_evidence(skill) if t.shown and t.success and t.version == skill.version]
    named = dict.fromkeys([*(o.task for o in skill.origins), *solved])
    return [there[name] for name in named if name in there][:most]


def run_skill_alone(runner: CurationRunner, library: SkillLibrary, skill: Skill, tasks: Sequence[Task]) -> list[bool]:
    """Run a skill's own plan on tasks, its parameters bound by one ask, and record it; success on each.

    A task whose episode broke is left out.
    """
    given = {"library": FixedStore(skill), "reuse": True, "tries": 1}
    ran = runner.map_parallel(lambda t: runner.run_planner(t, f"alone-{skill.name}", **given), tasks)
    for r in ran:
        if r is not None:
            task = r.result.task
            trial = EvidenceRecord(
                task.id, task.seed, runner.model, True, r.result.success, skill.version, "check", r.run
            )
            library.record(skill, trial)
    return [r.result.success for r in ran if r is not None]


def _check_skill(lab: CurationRunner, library: SkillLibrary, skill: Skill, tasks: Sequence[Task]) -> SkillCheck:
    if not tasks:
        raise UsageError(f"none of the tasks of {skill.env}/{skill.name} is there; are its data and settings the same?")
    outcomes = [(task, run_skill_alone(lab, library, skill, [task])) for task in tasks]
    unsolved = tuple(task.id for task, solved in outcomes if solved == [False])
    ran = sum(len(solved) for _, solved in outcomes)
    return SkillCheck(skill.name, skill.env, ran, ran - len(unsolved), unsolved)
