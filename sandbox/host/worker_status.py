"""Decides from a worker's exit status whether something outside killed it or its own plan ended it."""

from __future__ import annotations

import signal
from os import WIFSIGNALED, WTERMSIG
from typing import Final

from codeplan.sandbox.cage.zygote import UNKNOWN_STATUS
from codeplan.sandbox.host.worker_end import WorkerEnd


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
"""The signals that a worker's own faults cause. The cage forbids it to send signals."""
