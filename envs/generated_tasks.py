"""Task lists whose tasks are generated from a kind and a seed on access."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from codeplan.types import Task


def split_for_seed(seed: int) -> str:
    """Return the split of a seed: ``test`` below 1000, ``dev`` below 2000, ``train`` from 2000."""
    return "test" if seed < 1000 else "dev" if seed < 2000 else "train"


class GeneratedTasks(Sequence[Task]):
    """The tasks of some kinds and seeds: every kind of one seed, then the next seed. Each access makes its task."""

    def __init__(self, kinds: Sequence[str], seeds: range, make_task: Callable[[str, int], Task]) -> None:
        self._kinds, self._seeds, self._make_task = kinds, seeds, make_task

    def __len__(self) -> int:
        return len(self._kinds) * len(self._seeds)

    @overload
    def __getitem__(self, index: int) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Task]: ...
    def __getitem__(self, index: int | slice) -> Task | Sequence[Task]:
        positions = range(len(self))[index]  # raises IndexError beyond the end
        return self._at(positions) if isinstance(positions, int) else [self._at(position) for position in positions]

    def _at(self, position: int) -> Task:
        seed, kind = divmod(position, len(self._kinds))
        return self._make_task(self._kinds[kind], self._seeds[seed])
