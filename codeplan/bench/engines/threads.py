"""Jobs in threads of this process: a running episode waits for its model most of the time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Any, TypeVar

from codeplan.bench.engines.engine import Work
from codeplan.bench.engines.window import windowed
from codeplan.llm.background import interruptible

J = TypeVar("J")
R = TypeVar("R")


class Threads:
    """``workers`` threads. An interrupt ends the model calls of all of them at once."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(self, jobs: Iterable[J], work: Work[J, R]) -> Generator[R, None, None]:
        """As the port says."""
        return in_threads(self.workers, jobs, work)


def in_threads(
    workers: int, jobs: Iterable[J], work: Callable[[J], R], leave: Callable[[], None] = lambda: None
) -> Generator[R, None, None]:
    """What comes of the jobs, as it comes. ``leave`` is called before the threads are waited for at the end."""
    with ExitStack() as stack:
        stack.enter_context(interruptible())
        pool = stack.enter_context(ThreadPoolExecutor(workers, thread_name_prefix="codeplan-bench"))
        stack.callback(leave)
        for _, future in windowed(jobs, lambda job: pool.submit(work, job), first_done, workers):
            yield future.result()


def first_done(futures: Sequence[Future[Any]]) -> Iterable[Future[Any]]:
    """The futures that are done, once one is."""
    return wait(futures, return_when=FIRST_COMPLETED).done
