"""Tells a worker that something outside killed from one that its own plan brought down, and repeats what was lost."""

from __future__ import annotations

import signal
from collections.abc import Callable
from os import WIFSIGNALED, WTERMSIG
from typing import Final, NamedTuple, TypeVar

from codeplan.sandbox.cage.zygote import UNKNOWN_STATUS

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


def find_worker_end(status: int) -> WorkerEnd:
    """How a worker ended, from its status as in ``os.waitpid``, or UNKNOWN_STATUS if its zygote cannot tell."""
    if status == UNKNOWN_STATUS:
        return WorkerEnd("the worker was lost with the process that had forked it", killed=True, with_zygote=True)
    if not WIFSIGNALED(status):
        return WorkerEnd("the worker exited without an answer")
    number = WTERMSIG(status)
    if number in _OWN_SIGNALS:
        return WorkerEnd(_OWN_SIGNALS[number], number)
    reason = f"the worker was killed from outside by signal {number}; the machine may be short of memory"
    return WorkerEnd(reason, number, killed=True)


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


_OWN_SIGNALS: Final = {
    int(signal.SIGSYS): "the worker was killed: it made a forbidden system call",
    int(signal.SIGSEGV): "the worker crashed: the plan built a value that the interpreter cannot handle",
    int(signal.SIGABRT): "the worker crashed: the interpreter gave up",
    int(signal.SIGXCPU): "the worker was killed: it used more processor time than it may",
    **{
        int(number): f"the worker crashed by {number.name}"
        for number in (signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP, signal.SIGALRM, signal.SIGPROF)
    },
}
"""The signals that a worker brings upon itself. It cannot send any: the cage forbids it."""
