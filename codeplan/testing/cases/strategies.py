"""Tasks as a Hypothesis strategy, to try a plan on many. A failure shrinks to the smallest household.

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
from codeplan.types import Task

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

DEFAULT_SEEDS = range(300)
"""The seeds of the tasks if none are given."""


def tasks(
    env: str,
    *,
    kind: str | None = None,
    seeds: Iterable[int] = DEFAULT_SEEDS,
    where: Callable[[Task], bool] = lambda task: True,
    **settings: Any,
) -> SearchStrategy[Task]:
    """Draw generated tasks of a kind (None: all kinds) and of these seeds, if ``where`` returns True.

    A failing example shrinks towards the task with the smallest household. ``settings`` are the environment's.

    Raises: UsageError: the environment generates no tasks, lacks the kind, or no task fits.
    """
    from hypothesis.strategies import sampled_from

    found = [task for task in _tasks_by_size(env, kind, tuple(seeds), tuple(sorted(settings.items()))) if where(task)]
    if not found:
        raise UsageError(f"none of the {env} tasks of these seeds fits; add seeds or relax 'where'")
    return sampled_from(found)


@lru_cache(maxsize=32)
def _tasks_by_size(
    env: str, kind: str | None, seeds: tuple[int, ...], settings: tuple[tuple[str, Any], ...]
) -> list[Task]:
    """Return the tasks, the smallest first."""
    with closing(envs.make(env, **dict(settings))) as environment:
        if not isinstance(environment, GeneratesTasks):
            raise UsageError(f"the environment {env} does not generate tasks from seeds")
        kinds = environment.kinds if kind is None else (kind,)
        drawn = [environment.task(k, seed) for seed in seeds for k in kinds]
        return sorted(drawn, key=lambda task: (_task_size(environment, task), task.seed))


def _task_size(env: Environment, task: Task) -> int:
    """Return the number of a household's things, or else the length of the first observation."""
    if isinstance(env, EditableHousehold):
        game = env.game(task)
        return len(game.receptacles) + len(game.objects)
    return len(env.reset(task).text)
