"""Tasks that are made of a kind and a seed, when they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from codeplan.types.task import Task


def split_for_seed(seed: int) -> str:
    """The split that a seed belongs to: ``test`` below 1000, ``dev`` below 2000, ``train`` from there on."""
    return "test" if seed < 1000 else "dev" if seed < 2000 else "train"


class GeneratedTasks(Sequence[Task]):
    """The tasks of some kinds under some seeds, all kinds under one seed before the next seed.

    Each is made when it is asked for, by ``made``, of its kind and seed.
    """

    def __init__(self, kinds: Sequence[str], seeds: range, make_task: Callable[[str, int], Task]) -> None:
        self._kinds, self._seeds, self._make_task = kinds, seeds, make_task

    def __len__(self) -> int:
        return len(self._kinds) * len(self._seeds)

    @overload
    def __getitem__(self, index: int) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Task]: ...
    def __getitem__(self, index: int | slice) -> Task | Sequence[Task]:
        places = range(len(self))[index]  # raises IndexError beyond the end
        return self._at(places) if isinstance(places, int) else [self._at(place) for place in places]

    def _at(self, place: int) -> Task:
        nth, kind = divmod(place, len(self._kinds))
        return self._make_task(self._kinds[kind], self._seeds[nth])
