"""The tasks: each page under any seed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from codeplan.envs.generated_tasks import GeneratedTasks, split_for_seed
from codeplan.envs.miniwob.page_folder import FEEDBACK_TASKS, PAPER_TASKS
from codeplan.errors import UsageError
from codeplan.types.task import Task

NAME = "miniwob"

SPLITS = ("test", "dev", "train", "feedback", "other")

_SEEDS = {"test": range(100), "dev": range(1000, 1050), "train": range(2000, 2200)}
"""The seeds that a split lists; ``feedback`` and ``other`` list those of ``test``."""

_MOST = 2**53
"""Seeds are numbers to JavaScript, which counts so far without a gap."""


def list_tasks(split: str, names: Sequence[str]) -> Sequence[Task]:
    """The tasks of a split, made as they are looked at; none where there is no such split.

    ``test``, ``dev`` and ``train`` are the paper's 53 pages, ``feedback`` the nine with feedback, ``other`` the rest.
    """
    kinds = {"feedback": FEEDBACK_TASKS, "other": tuple(n for n in names if n not in PAPER_TASKS)}.get(
        split, PAPER_TASKS
    )
    seeds = _SEEDS.get("test" if split in ("feedback", "other") else split, range(0))
    return GeneratedTasks(tuple(kind for kind in kinds if kind in names), seeds, partial(_task, split=split))


def make_task(kind: str, seed: int) -> Task:
    """The task of this page and seed, of the split that its page and seed belong to."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < _MOST:
        raise UsageError(f"{seed!r} is no seed of a MiniWoB++ task; give a whole number from 0 to {_MOST - 1}")
    return _task(kind, seed, "other" if kind not in PAPER_TASKS else split_for_seed(seed))


def page_and_seed(task: Task) -> tuple[str, int]:
    """Which page a task means, under which seed: by its kind and seed or, where it has no kind, by its id."""
    if task.kind:
        return task.kind, task.seed
    kind, _, digits = task.id.rpartition("/")
    if not (kind and digits.isascii() and digits.isdigit() and len(digits) < 17):
        raise UsageError(
            f"MiniWoB++ has no task {task.id[:80]!r}; a task's id is its page and its seed, as in click-button/17"
        )
    return kind, int(digits)


def _task(kind: str, seed: int, split: str) -> Task:
    return Task(f"{kind}/{seed}", NAME, kind, "", seed, split)
