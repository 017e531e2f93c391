"""Tasks as a Hypothesis strategy: a plan's law is tried on many, and a failure is told for the smallest household.

from hypothesis import given
from codeplan.testing import tasks

@given(task=tasks("household", kind="heat", where=lambda task: "apple" in task.goal))
def test_the_plan_heats_any_apple(plan_runner, task):
    assert plan_runner(PLAN, "household", task).success
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from codeplan import envs
from codeplan.errors import UsageError
from codeplan.protocols import Environment, GeneratesTasks
from codeplan.testing.cases.household_faults import EditableHousehold
from codeplan.types.task import Task

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

DEFAULT_SEEDS = range(300)
"""The seeds whose tasks are drawn where none are named."""


def tasks(
    env: str,
    *,
    kind: str | None = None,
    seeds: Iterable[int] = DEFAULT_SEEDS,
    where: Callable[[Task], bool] = lambda task: True,
    **settings: Any,
) -> SearchStrategy[Task]:
    """Tasks that an environment generates: of a kind (None: of all), of these seeds, and such as ``where`` takes.

    A failing example shrinks towards the task with the smallest world. ``settings`` are the environment's. Raises
    UsageError where the environment generates no tasks, has no such kind, or none of the tasks is taken.
    """
    from hypothesis.strategies import sampled_from

    found = [task for task in _tasks_by_size(env, kind, tuple(seeds), tuple(sorted(settings.items()))) if where(task)]
    if not found:
        raise UsageError(f"none of the {env} tasks of these seeds fits; give more seeds, or take more in 'where'")
    return sampled_from(found)


@lru_cache(maxsize=32)
def _tasks_by_size(
    env: str, kind: str | None, seeds: tuple[int, ...], settings: tuple[tuple[str, Any], ...]
) -> list[Task]:
    """The tasks, those with the smallest worlds first."""
    with closing(envs.make(env, **dict(settings))) as world:
        if not isinstance(world, GeneratesTasks):
            raise UsageError(f"the environment {env} does not generate tasks from seeds")
        kinds = world.kinds if kind is None else (kind,)
        drawn = [world.task(k, seed) for seed in seeds for k in kinds]
        return sorted(drawn, key=lambda task: (_task_size(world, task), task.seed))


def _task_size(env: Environment, task: Task) -> int:
    """How large a task's world is: its things, or else how much there is to say of it."""
    if isinstance(env, EditableHousehold):
        game = env.game(task)
        return len(game.receptacles) + len(game.objects)
    return len(env.reset(task).text)
