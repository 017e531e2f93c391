"""Regression tests for a library: runs active skills again on tasks that they have solved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codeplan.curation.curation_runner import CurationRunner
from codeplan.errors import UsageError
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import Skill
from codeplan.skills.stores import FixedStore
from codeplan.types import Task, Value


class SkillCheck(Value, frozen=True):
    """How many of the tasks a skill solved again; ``unsolved`` holds the ids of the others."""

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
    """Run each skill's own plan on up to ``max_tasks`` tasks that it came from or has solved, and record the evidence.

    One model call binds the parameters; nothing is planned. Planners no longer see a skill that mostly fails.
    """
    by_id = {t.id: t for split in runner.splits() for t in runner.tasks(split)}
    rows: list[SkillCheck] = []
    for skill in skills:
        row = _check_skill(runner, library, skill, _known_tasks(library, skill, by_id, max_tasks))
        on_result(row)
        rows.append(row)
    return rows


def _known_tasks(library: SkillLibrary, skill: Skill, by_id: dict[str, Task], max_tasks: int) -> list[Task]:
    solved = [t.task for t in library.read_evidence(skill) if t.shown and t.success and t.version == skill.version]
    named = dict.fromkeys([*(o.task for o in skill.origins), *solved])
    return [by_id[name] for name in named if name in by_id][:max_tasks]


def run_skill_alone(runner: CurationRunner, library: SkillLibrary, skill: Skill, tasks: Sequence[Task]) -> list[bool]:
    """Run a skill's own plan on tasks, with its parameters bound by one model call, and record the evidence.

    Returns the success of each episode; episodes that infrastructure broke off are left out.
    """
    given = {"library": FixedStore(skill), "reuse": True, "tries": 1, "replans": 0}
    episodes = runner.map_parallel(lambda t: runner.run_planner(t, f"alone-{skill.name}", **given), tasks)
    for r in episodes:
        if r is not None:
            runner.record_evidence(library, skill, r, "check")
    return [r.result.success for r in episodes if r is not None]


def _check_skill(runner: CurationRunner, library: SkillLibrary, skill: Skill, tasks: Sequence[Task]) -> SkillCheck:
    if not tasks:
        raise UsageError(f"no task of {skill.env}/{skill.name} exists here; use the data and settings it was made with")
    runner.begin(f"skill {skill.name}", len(tasks))
    outcomes = [(task, run_skill_alone(runner, library, skill, [task])) for task in tasks]
    unsolved = tuple(task.id for task, solved in outcomes if solved == [False])
    count = sum(len(solved) for _, solved in outcomes)
    return SkillCheck(skill.name, skill.env, count, count - len(unsolved), unsolved)
