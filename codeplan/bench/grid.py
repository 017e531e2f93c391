"""The grid of a bench: its cells, their tasks, and its maximum sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codeplan.bench.other_bench import missing_options
from codeplan.bench.trainings import LearntPlan
from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.types import Task, Value
from codeplan.untrusted.noun_phrases import with_count
from codeplan.untrusted.values import in_quotes

MAX_EPISODES = 250_000
"""Larger grids are neither started nor read."""

MAX_NAME_CHARS = 1_000
"""Grids with longer names are neither started nor read."""


class BenchCell(Value, frozen=True):
    """One column of a bench: a method and a model on a suite.

    ``name`` is unique in the bench. ``settings`` are those of environment, method and model, without secrets;
    ``budget`` is for each episode. ``no_effect_prefixes`` start the observations after actions without effect; None if
    the environment has none. ``learnt`` is the plan that the cell follows, if the bench first learns one.
    """

    name: str
    suite: str
    env: str
    method: str
    model: str
    settings: dict[str, Any] = {}
    budget: Budget = Budget()
    no_effect_prefixes: tuple[str, ...] | None = None
    learnt: LearntPlan | None = None


class BenchGrid(Value, frozen=True):
    """A bench as requested: each cell runs the tasks of its suite, ``repeats`` times.

    ``tasks`` holds them by the suite's name; ``codeplan_version`` is the version that started the bench.
    """

    cells: tuple[BenchCell, ...]
    tasks: dict[str, tuple[Task, ...]]
    repeats: int = 1
    codeplan_version: str = ""


def require_sound(grid: BenchGrid, path: Path) -> None:
    """Raise UsageError if a bench cannot have this grid, or would be too large.

    Each cell has a name of its own and tasks. Trainings have a plan for each batch size and iteration.
    """
    if len({cell.name for cell in grid.cells}) < len(grid.cells):
        raise UsageError(f"{path} is damaged: two of its cells have the same name")
    for cell in grid.cells:
        if cell.suite not in grid.tasks:
            raise UsageError(f"{path} is damaged: there are no tasks for the cell {in_quotes(cell.name)}")
    for name, plans in _learnt_plans(grid).items():
        if len({plan.training.batch for plan in plans}) * len({plan.iteration for plan in plans}) > len(plans):
            raise UsageError(f"{path} is damaged: plans are missing of the trainings of {in_quotes(name)}")
    excess = find_excess(grid) if grid.repeats > 0 else "it has no repeats"
    if excess:
        raise UsageError(f"{path} is damaged: {excess}")


def _learnt_plans(grid: BenchGrid) -> dict[str, list[LearntPlan]]:
    """The plans of the trainings, by the name of the cell that is trained."""
    found: dict[str, list[LearntPlan]] = {}
    for plan in (cell.learnt for cell in grid.cells if cell.learnt):
        found.setdefault(plan.training.cell, []).append(plan)
    return found


def find_excess(grid: BenchGrid) -> str:
    """Which part of a grid exceeds a bench's limits, and what to do about it; empty if none does."""
    if (episodes := total_episodes(grid)) > MAX_EPISODES:
        return f"a bench has at most {MAX_EPISODES:,} episodes, not {episodes:,}; make several benches"
    for cell in grid.cells:
        if max(map(len, (cell.name, cell.suite, cell.env, cell.method, cell.model))) > MAX_NAME_CHARS:
            return f"a name has at most {MAX_NAME_CHARS:,} characters; give the cell {in_quotes(cell.name)} a label"
    return ""


def total_episodes(grid: BenchGrid) -> int:
    return sum(len(grid.tasks[cell.suite]) for cell in grid.cells) * grid.repeats


def require_contained(grid: BenchGrid, before: BenchGrid, folder: Path) -> None:
    """Raise UsageError unless ``grid`` contains all of ``before``."""
    cells = {c.name: c for c in grid.cells}
    for cell in before.cells:
        if cells.get(cell.name) != cell:
            what = "has other settings" if cell.name in cells else "is missing"
            way = missing_options(before.cells, cell, grid.cells)
            if cell.learnt and cell.name not in cells:
                way = "ask for as many trainings, batch sizes and iterations"
            advice = f"to go on with it, {way}; or name another folder" if way else "name another folder"
            raise UsageError(f"{folder} holds another bench: its cell {in_quotes(cell.name)} {what} here; {advice}")
        tasks = {task.id: task for task in grid.tasks[cell.suite]}
        if any(tasks.get(task.id) != task for task in before.tasks[cell.suite]):
            raise UsageError(
                f"{folder} holds a bench with other tasks of {cell.suite}; ask for all of them, or name another folder"
            )
    if grid.repeats < before.repeats:
        raise UsageError(
            f"{folder} holds a bench of {with_count(before.repeats, 'repeat')}; "
            "ask for at least as many, or name another folder"
        )
