"""The grid of a bench: its cells, their tasks, the trainings whose plans they follow, and its maximum sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from codeplan import plugins
from codeplan.budget import Budget
from codeplan.envs.registry import draw_order, list_tasks
from codeplan.errors import UsageError
from codeplan.plugins import remove_secrets
from codeplan.runner.setup import EpisodeSetup
from codeplan.types import Task, Value
from codeplan.untrusted.texts import shell_word, with_count
from codeplan.untrusted.values import in_quotes

MAX_EPISODES = 250_000
"""Larger grids are neither started nor read."""

MAX_NAME_CHARS = 1_000
"""Grids with longer names are neither started nor read."""

_MAX_SETTINGS = 3
"""Maximum number of settings that a message names."""

MAX_TRAININGS = 1000
"""Trainings of a batch size, tasks of a batch, and iterations, each at most. Within these limits each training has its
own seed: the grid's, plus this number for each training of the same batch size before, plus the batch size.
"""

MAX_PLANS = 10_000
"""Plans that one cell's trainings may write."""

OWN_SETTINGS = ("plan", "folder", "batch", "batch_seed", "epochs", "per_kind")
"""The method's settings that the grid of trainings itself sets."""


class TrainingGrid(Value, frozen=True, forbid_unknown_fields=True):
    """Which trainings a bench begins with: a method learns plans, and the bench's cells follow them.

    A bench's file asks for them with a table; each method and model of the bench is then trained so:

        [learn]
        batches = [2, 4, 8]           # tasks of an iteration, after which the plan is written anew
        trainings = 5                 # of each batch size; each draws its tasks at random, by a seed of its own
        iterations = 3                # the plan after each iteration is a cell
        split = "train"               # where the tasks are from; their kind is the bench's
        seed = 0                      # added to the seeds of all draws
        settings = { top_p = 0.9 }    # of the trainings only

    ``codeplan learn ENV -n 6 --draw 1002 --set batch=2 --set batch_seed=null --out DIR`` repeats the second training of
    two tasks.

    Raises: UsageError: there is nothing to train, or a number is below 1.
    """

    batches: tuple[int, ...]
    trainings: int
    iterations: int
    split: str = "train"
    seed: int = 0
    settings: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if not self.batches:
            raise UsageError("learn.batches is empty; name at least one batch size, such as [4]")
        if len({*self.batches}) < len(self.batches):
            raise UsageError(f"learn.batches names a batch size twice: {[*self.batches]}; name each once")
        numbers = {"trainings": (self.trainings,), "iterations": (self.iterations,), "batches": self.batches}
        for name, found in numbers.items():
            if wrong := [number for number in found if not 1 <= number <= MAX_TRAININGS]:
                raise UsageError(f"learn.{name} has the number {wrong[0]}; give 1 to {MAX_TRAININGS}")
        if (plans := len(self.batches) * self.trainings * self.iterations) > MAX_PLANS:
            raise UsageError(f"the table learn asks for {plans:,} plans; a cell has at most {MAX_PLANS:,}")


class Training(Value, frozen=True):
    """One training of a cell: iterations of ``batch`` tasks of ``split`` and ``kind``, drawn by the seed ``draw``.

    ``cell`` is the name without the part that distinguishes trainings; ``number`` counts the trainings of a batch size
    from 1. ``settings`` override the cell's; they hold no secrets.
    """

    cell: str
    batch: int
    number: int
    draw: int
    split: str
    kind: str | None = None
    settings: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """Unique in the bench."""
        return f"{self.cell}.batch={self.batch},training={self.number}"


class LearntPlan(Value, frozen=True):
    """The plan of a training after an iteration, counted from 1."""

    training: Training
    iteration: int

    @property
    def name(self) -> str:
        """Unique in the bench: the name of the cell that follows the plan."""
        return f"{self.training.name},iteration={self.iteration}"


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


class TrainingJob(msgspec.Struct, frozen=True):
    """A training that can start: the tasks of all iterations in order, and the settings, secrets included.

    ``env``, ``method`` and ``model`` are names; ``budget`` is for each episode.
    """

    training: Training
    env: str
    method: str
    model: str
    tasks: tuple[Task, ...]
    settings: dict[str, Any]
    budget: Budget

    def plans(self) -> Iterator[LearntPlan]:
        """The plan after each iteration."""
        return (LearntPlan(self.training, n) for n in range(1, len(self.tasks) // self.training.batch + 1))


def require_sound(grid: BenchGrid, path: Path) -> None:
    """Raise UsageError if a bench cannot have this grid, or would be too large.

    Each cell has a name of its own and tasks. Trainings have a plan for each batch size and iteration.
    """
    if len({cell.name for cell in grid.cells}) < len(grid.cells):
        raise UsageError(f"{path} is damaged: two of its cells have the same name")
    for cell in grid.cells:
        if cell.suite not in grid.tasks:
            raise UsageError(f"{path} is damaged: there are no tasks for the cell {in_quotes(cell.name)}")
    trained: dict[str, list[LearntPlan]] = {}
    for cell in grid.cells:
        if cell.learnt:
            trained.setdefault(cell.learnt.training.cell, []).append(cell.learnt)
    for name, plans in trained.items():
        if len({plan.training.batch for plan in plans}) * len({plan.iteration for plan in plans}) > len(plans):
            raise UsageError(f"{path} is damaged: plans are missing of the trainings of {in_quotes(name)}")
    excess = find_excess(grid) if grid.repeats > 0 else "it has no repeats"
    if excess:
        raise UsageError(f"{path} is damaged: {excess}")


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
            way = _missing_options(before.cells, cell, grid.cells)
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


def _missing_options(before: Sequence[BenchCell], missing: BenchCell, here: Sequence[BenchCell]) -> str:
    """The options with which to continue a bench that has the cells ``before``; empty if a command's options cannot
    express them. ``missing`` is one of those cells that has no equal among the cells ``here``.
    """
    if len(before) > 1:
        return "give its file or its paper:NAME, with the same options"
    if len(here) != 1:
        return ""
    (cell,) = here
    if cell.suite != missing.suite:
        return f"name the suite {in_quotes(missing.suite)}"
    parts = {"--method": (cell.method, missing.method), "--model": (cell.model, missing.model)}
    given = [f"{option} {shell_word(there)}" for option, (name, there) in parts.items() if name != there]
    if given:
        return f"give {' '.join(given)}"
    changed = _changed_settings(missing.settings, cell.settings)
    return f"give the same settings ({'; '.join(changed)})" if changed else ""


def _changed_settings(before: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    names = [name for name in {**before, **here} if before.get(name) != here.get(name)]
    shown = [f"{name} was {_value(before, name)}, here {_value(here, name)}" for name in names[:_MAX_SETTINGS]]
    return shown + ([f"and {len(names) - _MAX_SETTINGS} more"] if len(names) > _MAX_SETTINGS else [])


def _value(settings: Mapping[str, Any], name: str) -> str:
    return in_quotes(settings[name]) if name in settings else "not set"


def resolve_trainings(
    grid: TrainingGrid, cell: BenchCell, kind: str | None, settings: Mapping[str, Any], *, offline: bool = False
) -> list[TrainingJob]:
    """The trainings of a cell, whose plans the cells to come will follow. With ``offline``, none can run.

    Raises: UsageError: the method does not learn in batches, a setting does not fit, or the split has too few tasks.
    """
    env, method, model = cell.env, cell.method, cell.model
    taken = plugins.setting_names(plugins.load_factory("codeplan.methods", method))
    if missing := [name for name in OWN_SETTINGS if name not in taken]:
        raise UsageError(f"the method {method} has no setting {missing[0]}, so it cannot be trained; autoplan can be")
    given = {**settings, **grid.settings}
    if twice := next((name for name in OWN_SETTINGS if name in given), None):
        raise UsageError(f"a grid of trainings sets {twice} itself; leave the setting {twice} out")
    with EpisodeSetup(env, method, model, given, offline=offline) as setup:
        tasks = list_tasks(setup.env, grid.split, kind)
    _require_enough(tasks, grid, env)
    jobs = []
    for batch in grid.batches:
        own = {"batch": batch, "batch_seed": None, "epochs": 1, "per_kind": False}
        for number in range(1, grid.trainings + 1):
            draw = grid.seed + MAX_TRAININGS * (number - 1) + batch
            training = Training(cell.name, batch, number, draw, grid.split, kind, remove_secrets(grid.settings))
            drawn = tuple(draw_order(tasks, draw)[: batch * grid.iterations])
            jobs.append(TrainingJob(training, env, method, model, drawn, {**given, **own}, cell.budget))
    return jobs


def _require_enough(tasks: Sequence[Task], grid: TrainingGrid, env: str) -> None:
    most = max(grid.batches)
    if len(tasks) < most * grid.iterations:
        raise UsageError(
            f"{with_count(grid.iterations, 'iteration')} of {with_count(most, 'task')} need "
            f"{with_count(most * grid.iterations, 'task')}, but {env} has "
            f"{len(tasks)} of the chosen kind in its split {grid.split}; ask for fewer iterations or smaller batches"
        )
