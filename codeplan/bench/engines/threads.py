"""Jobs in threads of this process: an episode mostly waits for its model."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Any

from codeplan.bench.engines.engine import J, JobHandler, R
from codeplan.bench.engines.job_window import submit_in_window
from codeplan.llm.background_loop import cancel_calls_on_interrupt
from codeplan.recording.cancellation import Cancellation


class ThreadEngine:
    """``workers`` threads. An interrupt, or a job that raises, cancels the work of all of them."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(self, jobs: Iterable[J], handler: JobHandler[J, R]) -> Generator[R, None, None]:
        """Run the jobs."""
        cancellation = Cancellation()

        def handle(job: J) -> R:
            with cancellation.in_force():
                return handler(job)

        return run_in_threads(self.workers, jobs, handle, cancellation.cancel)


def run_in_threads(
    workers: int, jobs: Iterable[J], function: Callable[[J], R], before_join: Callable[[], None] = lambda: None
) -> Generator[R, None, None]:
    """Yield the results as they come. ``before_join`` is called before the threads are joined at the end."""
    with ExitStack() as stack:
        stack.enter_context(cancel_calls_on_interrupt())
        pool = stack.enter_context(ThreadPoolExecutor(workers, thread_name_prefix="codeplan-bench"))
        stack.callback(before_join)
        for _, future in submit_in_window(jobs, lambda job: pool.submit(function, job), wait_for_any, workers):
            yield future.result()


def wait_for_any(futures: Sequence[Future[Any]]) -> Iterable[Future[Any]]:
    """Return the futures that are done, once one is."""
    return wait(futures, return_when=FIRST_COMPLETED).done
