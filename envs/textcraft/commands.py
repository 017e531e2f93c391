"""The crafting commands that a task shows: those that its goal needs, among distractors."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from codeplan.envs.textcraft.recipes import RecipeBook, read_data_file, recipe_book
from codeplan.errors import UsageError
from codeplan.untrusted.files import read_user_text
from codeplan.untrusted.values import in_quotes

MAX_DISTRACTORS = 10
MAX_FILE_BYTES = 64 << 20
"""A larger file of recorded tasks is not read."""

CommandLists = dict[int, tuple[str, ...]]
"""Ordered commands by the task's seed."""


def draw_commands(recipes: RecipeBook, goal: str, seed: int) -> tuple[str, ...]:
    """Return the commands that a goal needs, mixed with up to ten others that use the same ingredients.

    The result depends only on the arguments, on every platform, Python version and hash seed: the draws use only
    ``random.Random.random``, whose stream Python's documentation fixes.
    """
    draw = random.Random(f"textcraft {goal} {seed}").random
    needed = recipes.recipes_needed_for(goal)
    near: set[str] = set()
    for recipe in needed.values():
        for each in recipe.ingredients:
            near.update(_draw(recipes.commands_by_ingredient[each.name], MAX_DISTRACTORS, draw))
    distractors = _draw(sorted(near - needed.keys()), MAX_DISTRACTORS, draw)
    return tuple(_draw([*needed, *distractors], None, draw))


def _draw(values: Sequence[str], count: int | None, draw: Callable[[], float]) -> list[str]:
    """Draw up to ``count`` of the values (None: all), in random order."""
    left = list(values)
    count = len(left) if count is None else min(count, len(left))
    for i in range(count):
        j = i + int(draw() * (len(left) - i))
        left[i], left[j] = left[j], left[i]
    return left[:count]


# ------------------------------------------------------------------ recorded lists


@cache
def bundled_command_lists() -> CommandLists:
    """Return the lists of half of the test tasks, from the episodes published with ADaPT."""
    lines = (line.split(": ") for line in read_data_file("recorded.txt").splitlines())
    return {int(seed): tuple(recipe_book().commands[int(n) - 1] for n in numbers.split()) for seed, numbers in lines}


def read_command_lists(file: str) -> CommandLists:
    """Return the lists in a file of JSON lines with ``seed`` and ``commands``; other keys are ignored.

    Raises: UsageError, with file and line, if the file cannot be read or a line is wrong.
    """
    try:
        lines = read_user_text(Path(file).expanduser(), MAX_FILE_BYTES).splitlines()
    except OSError as e:
        raise UsageError(f"the recorded tasks in {file} cannot be read: {e.strerror}") from None
    return dict(_parse_line(line, f"{file}, line {number}") for number, line in enumerate(lines, 1) if line.strip())


def _parse_line(line: str, where: str) -> tuple[int, tuple[str, ...]]:
    try:
        task: Any = json.loads(line)
        seed, listed = task["seed"], task["commands"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UsageError(f"{where} is not a recorded task: give JSON with a seed and a list of commands") from None
    if type(seed) is not int or not isinstance(listed, list) or not listed:
        raise UsageError(f"{where} is not a recorded task: its seed must be a number and its commands a list of texts")
    unknown = next((c for c in listed if c not in recipe_book().commands), None)
    if unknown is not None:
        raise UsageError(f"{where} has the command {in_quotes(unknown)}, which is not one of TextCraft's recipes")
    return seed, tuple(listed)
