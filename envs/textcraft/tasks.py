"""The tasks of TextCraft: goal, seed and split."""

from __future__ import annotations

import random
from functools import cache

from codeplan.envs.textcraft.recipes import RecipeBook, display_name, read_data_file, recipe_book
from codeplan.errors import UsageError
from codeplan.types import Task
from codeplan.untrusted.values import in_quotes

NAME = "textcraft"
MIN_DEPTH = 2
"""The least depth of a goal."""

_DEV = 50
"""Number of tasks in the split dev; the remaining ones are in train."""


def tasks_in_split(split: str) -> tuple[Task, ...]:
    """Return the tasks of a split, by seed; none if there is no such split."""
    return _splits().get(split, ())


def find_task(task: Task) -> Task:
    """Return TextCraft's own task with the same id or, if the id is unknown, the same kind and seed.

    Raises: UsageError if there is none.
    """
    known = _ids().get(task.id) or _ids().get(f"{task.kind}/{task.seed}")
    if known is None:
        raise UsageError(
            f"TextCraft has no task {in_quotes(task.id, 80)}; an id is a depth and a seed, as in depth3/17, "
            f"and the seeds run from 0 to {len(_ids()) - 1}"
        )
    return known


def goal_item(task: Task) -> str:
    """Return the item that a task asks for."""
    return task.goal.removeprefix("craft ").replace(" ", "_")


@cache
def _splits() -> dict[str, tuple[Task, ...]]:
    """The 200 tasks of ``test``, 50 of ``dev`` and 147 of ``train``, with consecutive seeds.

    The goals of ``test`` are TextCraft's own for these seeds. The goals of the other splits are the remaining items of
    depth 2 or more, in a random but fixed order.
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
