"""The crafting commands that a task begins with: those that its goal needs, among others that lead nowhere."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from codeplan.envs.textcraft.recipes import RecipeBook, read_data_file, recipe_book
from codeplan.errors import UsageError

MAX_DISTRACTORS = 10

CommandLists = dict[int, tuple[str, ...]]
"""Commands in their order, by the seed of the task."""


def draw_commands(recipes: RecipeBook, goal: str, seed: int) -> tuple[str, ...]:
    """The commands of a goal's task, mixed with up to ten that use the same inputs for other things.

    Nothing but the arguments decides, on every platform, Python version and hash seed: only the stream of
    ``random.Random.random`` is used, which Python's documentation fixes.
    """
    draw = random.Random(f"textcraft {goal} {seed}").random
    needed = recipes.recipes_needed_for(goal)
    near: set[str] = set()
    for recipe in needed.values():
        for each in recipe.ingredients:
            near.update(_drawn(recipes.commands_by_ingredient[each.name], MAX_DISTRACTORS, draw))
    distractors = _drawn(sorted(near - needed.keys()), MAX_DISTRACTORS, draw)
    return tuple(_drawn([*needed, *distractors], None, draw))


def _drawn(values: Sequence[str], count: int | None, draw: Callable[[], float]) -> list[str]:
    """So many of the values, as they are drawn; all of them where ``count`` is None or more than there are."""
    left = list(values)
    count = len(left) if count is None else min(count, len(left))
    for i in range(count):
        j = i + int(draw() * (len(left) - i))
        left[i], left[j] = left[j], left[i]
    return left[:count]


# ------------------------------------------------------------------ lists that were recorded


@cache
def bundled_command_lists() -> CommandLists:
    """The lists of half of the test tasks, read off the episodes that were published with ADaPT."""
    lines = (line.split(": ") for line in read_data_file("recorded.txt").splitlines())
    return {int(seed): tuple(recipe_book().commands[int(n) - 1] for n in numbers.split()) for seed, numbers in lines}


def read_command_lists(file: str) -> CommandLists:
    """The lists in a file of JSON lines that have ``seed`` and ``commands``; whatever else they have is not read.

    Raises UsageError, with file and line, where it cannot be read or has something else in it.
    """
    try:
        lines = Path(file).expanduser().read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError, ValueError) as e:
        raise UsageError(f"the recorded tasks in {file} cannot be read: {getattr(e, 'strerror', None) or e}") from None
    return dict(_read(line, f"{file}, line {number}") for number, line in enumerate(lines, 1) if line.strip())


def _read(line: str, where: str) -> tuple[int, tuple[str, ...]]:
    try:
        task: Any = json.loads(line)
        seed, listed = task["seed"], task["commands"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UsageError(f"{where} is no recorded task: give JSON with a seed and a list of commands") from None
    if type(seed) is not int or not isinstance(listed, list) or not listed:
        raise UsageError(f"{where} is no recorded task: its seed is a number, its commands are a list of texts")
    unknown = next((c for c in listed if c not in recipe_book().commands), None)
    if unknown is not None:
        raise UsageError(f"{where} has the command {unknown!r}, which is none of TextCraft's recipes")
    return seed, tuple(listed)
