"""The tasks: every page with every seed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from codeplan.envs.generated_tasks import GeneratedTasks, split_for_seed
from codeplan.envs.miniwob.page_folder import FEEDBACK_TASKS, PAPER_TASKS
from codeplan.errors import UsageError
from codeplan.types import Task
from codeplan.untrusted.values import in_quotes

NAME = "miniwob"

SPLITS = ("test", "dev", "train", "feedback", "other")

_SEEDS = {"test": range(100), "dev": range(1000, 1050), "train": range(2000, 2200)}
"""The listed seeds of each split; ``feedback`` and ``other`` use those of ``test``."""

_SEED_LIMIT = 2**53
"""JavaScript represents all smaller integers exactly."""


def list_tasks(split: str, names: Sequence[str]) -> Sequence[Task]:
    """The tasks of a split, each built on access; empty if there is no such split.

    ``test``, ``dev`` and ``train`` are the paper's 53 pages, ``feedback`` the nine with feedback, ``other`` the rest.
    """
    others = tuple(name for name in names if name not in PAPER_TASKS)
    kinds = {"feedback": FEEDBACK_TASKS, "other": others}.get(split, PAPER_TASKS)
    seeds = _SEEDS.get("test" if split in ("feedback", "other") else split, range(0))
    return GeneratedTasks(tuple(kind for kind in kinds if kind in names), seeds, partial(_task, split=split))


def make_task(kind: str, seed: int) -> Task:
    """The task of a page and a seed. Raises: UsageError if the seed is invalid."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < _SEED_LIMIT:
        raise UsageError(
            f"the seed of a MiniWoB++ task must be a whole number from 0 to {_SEED_LIMIT - 1} (got {in_quotes(seed)})"
        )
    return _task(kind, seed, "other" if kind not in PAPER_TASKS else split_for_seed(seed))


def page_and_seed(task: Task) -> tuple[str, int]:
    """A task's page and seed, from its kind and seed or, if it has no kind, from its id."""
    if task.kind:
        return task.kind, task.seed
    kind, _, digits = task.id.rpartition("/")
    if not (kind and digits.isascii() and digits.isdigit() and len(digits) < 17):
        raise UsageError(
            f"MiniWoB++ has no task {in_quotes(task.id, 80)}; an id is a page and a seed, as in click-button/17"
        )
    return kind, int(digits)


def _task(kind: str, seed: int, split: str) -> Task:
    return Task(f"{kind}/{seed}", NAME, kind, "", seed, split)
