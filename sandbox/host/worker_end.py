"""How a worker ended, and the repetition of work whose worker was killed from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

MAX_KILLED_WORKERS: Final = 8  # how often one check, run or analysis replaces a killed worker
MAX_LOST_ZYGOTES: Final = 20  # the same for a worker lost together with its zygote, which no plan can reach

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
    """Something outside killed a worker before its plan's run had any visible effect, so the work can be repeated.

    ``had_job`` is false if the worker had not received the plan yet.
    """

    def __init__(self, end: WorkerEnd, *, had_job: bool) -> None:
        super().__init__(end.message)
        self.end, self.had_job = end, had_job


def repeat_if_killed(attempt: Callable[[], _T]) -> _T:
    """Repeat ``attempt`` as long as it raises WorkerKilled. Raises WorkerKilled if that happens too often."""
    alone = with_zygote = 0
    while True:
        try:
            return attempt()
        except WorkerKilled as killed:
            with_zygote += killed.end.with_zygote
            alone += not killed.end.with_zygote
            if alone > MAX_KILLED_WORKERS or with_zygote > MAX_LOST_ZYGOTES:
                raise
