"""The tasks of TextCraft: what is to be crafted, under which seed, in which split."""

from __future__ import annotations

import random
from functools import cache

from codeplan.envs.textcraft.recipes import RecipeBook, display_name, read_data_file, recipe_book
from codeplan.errors import UsageError
from codeplan.types.task import Task

NAME = "textcraft"
MIN_DEPTH = 2
"""The least depth of a goal."""

_DEV = 50
"""Tasks in the split dev; those after them are in train."""


def tasks_in_split(split: str) -> tuple[Task, ...]:
    """The tasks of a split, by seed; none where there is no such split."""
    return _splits().get(split, ())


def find_task(task: Task) -> Task:
    """TextCraft's own task that is meant: by its id or, where that is unknown, by its kind and seed.

    Raises UsageError where there is none.
    """
    known = _ids().get(task.id) or _ids().get(f"{task.kind}/{task.seed}")
    if known is None:
        raise UsageError(
            f"TextCraft has no task {task.id[:80]!r}; a task's id is its depth and its seed, as in depth3/17, "
            f"and the seeds run from 0 to {len(_ids()) - 1}"
        )
    return known


def goal_item(task: Task) -> str:
    """The item that one of these tasks asks for."""
    return task.goal.removeprefix("craft ").replace(" ", "_")


@cache
def _splits() -> dict[str, tuple[Task, ...]]:
    """The 200 tasks of ``test``, the 50 of ``dev``, the 147 of ``train``, whose seeds follow on one another.

    The goals of ``test`` are TextCraft's own for these seeds. Those of the other two are the rest of the items that
    are at least two crafts deep, in an order drawn once and for all.
    """
    recipes = recipe_book()
    test = read_data_file("goals.txt").split()
    draw = random.Random("the goals of dev and train").random
    rest = sorted(set(recipes.recipes_by_output) - set(test))
    others = [item for _, item in sorted((draw(), item) for item in rest if recipes.depth(item) >= MIN_DEPTH)]
    parts = {"test": test, "dev": others[:_DEV], "train": others[_DEV:]}
    starts = {"test": 0, "dev": len(test), "train": len(test) + _DEV}
    return {
        split: tuple(_task(recipes, goal, seed, split) for seed, goal in enumerate(goals, starts[split]))
        for split, goals in parts.items()
    }


@cache
def _ids() -> dict[str, Task]:
    return {task.id: task for tasks in _splits().values() for task in tasks}


def _task(recipes: RecipeBook, goal: str, seed: int, split: str) -> Task:
    kind = f"depth{recipes.depth(goal)}"
    return Task(f"{kind}/{seed}", NAME, kind, f"craft {display_name(goal)}", seed, split)
