"""The end of a worker, and the repetition of what was lost with one that something outside killed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

MAX_KILLED_WORKERS: Final = 8  # how many workers of one check, run or analysis may be killed and replaced
MAX_LOST_ZYGOTES: Final = 20  # how often it may lose its worker together with the zygote, which no plan can reach

_T = TypeVar("_T")


class WorkerEnd(NamedTuple):
    """How a worker ended. ``signal`` is the signal that ended it, or None.

    ``killed`` means that something outside killed it, so its end says nothing about its plan; ``with_zygote`` that its
    zygote is gone too.
    """

    message: str
    signal: int | None = None
    killed: bool = False
    with_zygote: bool = False


class WorkerKilled(Exception):
    """Something outside killed a worker before anyone saw anything of its plan's run, so the work can be repeated.

    ``had_job`` is false if the worker did not even have the plan.
    """

    def __init__(self, end: WorkerEnd, *, had_job: bool) -> None:
        super().__init__(end.message)
        self.end, self.had_job = end, had_job


def repeat_if_killed(attempt: Callable[[], _T]) -> _T:
    """Do ``attempt`` until it ends in any way but WorkerKilled. Raises WorkerKilled if that happens too often."""
    alone = with_zygote = 0
    while True:
        try:
            return attempt()
        except WorkerKilled as killed:
            with_zygote += killed.end.with_zygote
            alone += not killed.end.with_zygote
            if alone > MAX_KILLED_WORKERS or with_zygote > MAX_LOST_ZYGOTES:
                raise
