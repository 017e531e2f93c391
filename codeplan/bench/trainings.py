"""Grids of trainings: a method learns plans, and the bench's cells follow them.

A bench's file asks for a grid with a table; each method and model of the bench is then trained so:

    [learn]
    batches = [2, 4, 8]           # tasks of an iteration, after which the plan is written anew
    trainings = 5                 # of each batch size; each draws its tasks at random, by a seed of its own
    iterations = 3                # the plan after each iteration is a cell
    split = "train"               # where the tasks are from; their kind is the bench's
    seed = 0                      # added to the seeds of all draws
    settings = { top_p = 0.9 }    # of the trainings only

``codeplan learn ENV -n 6 --draw 1002 --set batch=2 --set batch_seed=null --out DIR`` repeats the second training of two
tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from codeplan import plugins
from codeplan.budget import Budget
from codeplan.envs.selection import draw_order, list_tasks
from codeplan.errors import UsageError
from codeplan.recording.redaction import remove_secrets
from codeplan.runner.setup import EpisodeSetup
from codeplan.types import Task, Value
from codeplan.untrusted.noun_phrases import with_count

MAX_TRAININGS = 1000
"""Trainings of a batch size, tasks of a batch, and iterations, each at most. Within these limits each training has its
own seed: the grid's, plus this number for each training of the same batch size before, plus the batch size.
"""

MAX_PLANS = 10_000
"""Plans that one cell's trainings may write."""

OWN_SETTINGS = ("plan", "folder", "batch", "batch_seed", "epochs", "per_kind")
"""The method's settings that the grid of trainings itself sets."""


class TrainingGrid(Value, frozen=True, forbid_unknown_fields=True):
    """Which trainings a bench begins with; see the module's text.

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


def resolve_trainings(
    grid: TrainingGrid,
    cell: str,
    names: tuple[str, str, str],
    kind: str | None,
    settings: Mapping[str, Any],
    budget: Budget,
    *,
    offline: bool = False,
) -> list[TrainingJob]:
    """The trainings of a cell with these names of environment, method and model. With ``offline``, none can run.

    Raises: UsageError: the method does not learn in batches, a setting does not fit, or the split has too few tasks.
    """
    env, method, model = names
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
            training = Training(cell, batch, number, draw, grid.split, kind, remove_secrets(grid.settings))
            drawn = tuple(draw_order(tasks, draw)[: batch * grid.iterations])
            jobs.append(TrainingJob(training, *names, drawn, {**given, **own}, budget))
    return jobs


def _require_enough(tasks: Sequence[Task], grid: TrainingGrid, env: str) -> None:
    most = max(grid.batches)
    if len(tasks) < most * grid.iterations:
        raise UsageError(
            f"{with_count(grid.iterations, 'iteration')} of {with_count(most, 'task')} need "
            f"{with_count(most * grid.iterations, 'task')}, but {env} has "
            f"{len(tasks)} of the chosen kind in its split {grid.split}; ask for fewer iterations or smaller batches"
        )
