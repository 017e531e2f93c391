"""The tasks of ScienceWorld: 30 kinds, their variations, and the engine's own splits of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import zip_longest

from codeplan.errors import UsageError
from codeplan.types import Task
from codeplan.untrusted.differences import nearest_name
from codeplan.untrusted.values import in_quotes

NAME = "scienceworld"

VARIATIONS = {
    "find-plant": 300,
    "find-animal": 300,
    "find-living-thing": 300,
    "find-non-living-thing": 300,
    "lifespan-longest-lived": 125,
    "lifespan-shortest-lived": 125,
    "lifespan-longest-lived-then-shortest-lived": 125,
    "use-thermometer": 540,
    "chemistry-mix-paint-secondary-color": 36,
    "power-component": 20,
    "boil": 30,
    "change-the-state-of-matter-of": 30,
    "chemistry-mix": 32,
    "chemistry-mix-paint-tertiary-color": 36,
    "freeze": 30,
    "grow-fruit": 126,
    "grow-plant": 126,
    "identify-life-stages-1": 14,
    "identify-life-stages-2": 10,
    "inclined-plane-determine-angle": 168,
    "inclined-plane-friction-named-surfaces": 1386,
    "inclined-plane-friction-unnamed-surfaces": 162,
    "measure-melting-point-known-substance": 436,
    "measure-melting-point-unknown-substance": 300,
    "melt": 30,
    "mendelian-genetics-known-plant": 120,
    "mendelian-genetics-unknown-plant": 480,
    "power-component-renewable-vs-nonrenewable-energy": 20,
    "test-conductivity": 900,
    "test-conductivity-of-unknown-substances": 600,
}
"""The kinds of tasks, as the engine names them, and the number of each kind's variations. Kinds that take few actions
come first."""

SPLITS = ("test", "dev", "train")


def variations(kind: str, split: str) -> range:
    """The variations of a kind in a split; none if there is no such split.

    The engine's rule: two quarters of the variations are for training, the third for development, the rest for tests.
    """
    count = VARIATIONS[kind]
    quarter = count // 4
    starts = {"train": range(2 * quarter), "dev": range(2 * quarter, 3 * quarter), "test": range(3 * quarter, count)}
    return starts.get(split, range(0))


@cache
def tasks_in_split(split: str) -> Sequence[Task]:
    """The tasks of a split: the first variation of every kind, then the second of every kind, and so on."""
    return tuple(_in_turns(split))


def find_task(task: Task) -> Task:
    """ScienceWorld's own task with the same kind and variation, or with the same id if the task has no kind.

    Raises: UsageError if there is none.
    """
    kind, variation = (task.kind, task.seed) if task.kind else _kind_and_variation(task.id)
    if kind not in VARIATIONS:
        raise UsageError(f"ScienceWorld has no task {in_quotes(task.id or kind, 80)}; {_advice(kind)}")
    count = VARIATIONS[kind]
    if isinstance(variation, bool) or not isinstance(variation, int) or not 0 <= variation < count:
        raise UsageError(
            f"ScienceWorld has no variation {in_quotes(variation, 40)} of {kind}; they are 0 to {count - 1}"
        )
    return _task(kind, variation, next(name for name in SPLITS if variation in variations(kind, name)))


def _in_turns(split: str) -> Iterator[Task]:
    for row in zip_longest(*(variations(kind, split) for kind in VARIATIONS)):
        for kind, variation in zip(VARIATIONS, row, strict=True):
            if variation is not None:
                yield _task(kind, variation, split)


def _kind_and_variation(id: str) -> tuple[str, int | str]:
    """The parts of an id; the variation stays a text if it is not a plain number."""
    kind, _, digits = id.rpartition("/")
    plain = digits.isascii() and digits.isdigit() and len(digits) < 6 and str(int(digits)) == digits
    return kind or id, int(digits) if plain else digits


def _advice(kind: str) -> str:
    near = nearest_name(kind[:80], VARIATIONS)
    meant = f"did you mean {near}? " if near else ""
    return f"{meant}an id is a kind and a variation, as in find-plant/225"


def _task(kind: str, variation: int, split: str) -> Task:
    return Task(f"{kind}/{variation}", NAME, kind, "", variation, split)
