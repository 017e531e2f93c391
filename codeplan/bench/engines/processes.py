"""Jobs in processes on this machine: for episodes limited by processor time rather than by model calls."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Generic

from codeplan.bench.engines.engine import MAX_RESTARTS, J, JobHandler, R
from codeplan.bench.engines.threads import run_in_threads


class ProcessEngine:
    """``workers`` processes with one job each. A process that dies is replaced, and its job restarted.

    If there are cores for all, each process and its sandboxes keep to their share: a plan's worker and its host take
    turns, and the hand-over is faster when neither core has to wake up.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(self, jobs: Iterable[J], handler: JobHandler[J, R]) -> Generator[R, None, None]:
        """Run the jobs, each thread with its own process."""
        elsewhere = _ProcessHandler(handler, divide_cores(self.workers))
        return run_in_threads(self.workers, jobs, elsewhere, elsewhere.close)


class _ProcessHandler(Generic[J, R]):
    """Handles jobs in a process that belongs to the calling thread.

    The processes hold one end of a pipe and exit when the other end closes, also if this process dies.
    """

    def __init__(self, work: JobHandler[J, R], cores: Sequence[frozenset[int]]) -> None:
        self._work = work
        self._cores = itertools.cycle(cores)
        self._context = multiprocessing.get_context("spawn")
        self._theirs, self._ours = self._context.Pipe(duplex=False)
        self._mine = threading.local()
        self._all: list[ProcessPoolExecutor] = []
        self._closed = False

    def __call__(self, job: J) -> R:
        for _ in range(1 + MAX_RESTARTS):
            try:
                return self._process().submit(self._work, job).result()
            except BrokenProcessPool:
                del self._mine.process  # the new process gets the same cores
                if self._closed:
                    raise
        return self._work.handle_lost(job, f"the process that ran this died {1 + MAX_RESTARTS} times")

    def close(self) -> None:
        """Stop all processes at once."""
        self._closed = True
        self._ours.close()
        for process in self._all:
            process.shutdown(wait=True, cancel_futures=True)
        self._theirs.close()

    def _process(self) -> ProcessPoolExecutor:
        if not hasattr(self._mine, "process"):
            if not hasattr(self._mine, "cores"):
                self._mine.cores = next(self._cores)
            self._mine.process = ProcessPoolExecutor(
                1, self._context, _initialise_process, (self._theirs, self._mine.cores)
            )
            self._all.append(self._mine.process)
        process: ProcessPoolExecutor = self._mine.process
        return process


def divide_cores(workers: int) -> list[frozenset[int]]:
    """Return each process's cores: all of them if there are fewer cores than processes."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if workers > len(cores):
        return [frozenset(cores)] * workers
    bounds = [len(cores) * i // workers for i in range(workers + 1)]
    return [frozenset(cores[start:end]) for start, end in itertools.pairwise(bounds)]


def _initialise_process(lifeline: Connection, cores: frozenset[int]) -> None:
    """In the new process: exit with the parent, and leave interrupts to it."""
    if cores:
        os.sched_setaffinity(0, cores)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, args=(lifeline,), daemon=True).start()


def _exit_with_parent(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
