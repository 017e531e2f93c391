"""Engines that run episodes: in threads, in processes, on Dask, on Ray. Each does its own scheduling and retries."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from importlib import import_module
from itertools import islice
from multiprocessing.connection import Connection
from typing import Any, Generic, Protocol, TypeVar

from codeplan import plugins
from codeplan.cancellation import Cancellation
from codeplan.errors import InfrastructureError, UsageError
from codeplan.llm.connections import cancel_calls_on_interrupt
from codeplan.sandbox.host.plan_texts import usable_processors
from codeplan.untrusted.values import in_quotes

J = TypeVar("J")
R = TypeVar("R")
J_contra = TypeVar("J_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

MAX_RESTARTS = 3
"""How often a job is restarted after its worker died."""


class JobHandler(Protocol[J_contra, R_co]):
    """Handles one job. It must be picklable, except for threads."""

    def __call__(self, job: J_contra) -> R_co:
        """Handle the job. An exception ends the run and is raised there."""
        ...

    def handle_lost(self, job: J_contra, reason: str) -> R_co:
        """Return the result of a job whose workers kept dying."""
        ...


def _handle_job(handler: JobHandler[J, R], job: J) -> R:
    """Handle a job on a worker of Dask or Ray."""
    return handler(job)


class Engine(Protocol):
    """Runs at most ``workers`` jobs at a time."""

    workers: int

    def run(self, jobs: Iterable[J], handler: JobHandler[J, R]) -> Generator[R, None, None]:
        """Yield the results as they come, in any order; take a job from ``jobs`` when a worker is free.

        Closing the iterator stops running jobs as soon as the engine can.
        """
        ...


def _submit_in_window(
    jobs: Iterable[J], submit: Callable[[J], Any], wait: Callable[[Sequence[Any]], Iterable[Any]], size: int
) -> Iterator[tuple[J, Any]]:
    """Yield each job with its future as it completes; at most ``size`` are in flight.

    ``submit`` starts a job and returns its future; ``wait`` blocks until some of the futures are done and returns
    those.
    """
    source, running = iter(jobs), dict[Any, J]()
    while True:
        for job in islice(source, size - len(running)):
            running[submit(job)] = job
        if not running:
            return
        for future in wait(list(running)):
            yield running.pop(future), future


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
        for _, future in _submit_in_window(jobs, lambda job: pool.submit(function, job), wait_for_any, workers):
            yield future.result()


def wait_for_any(futures: Sequence[Future[Any]]) -> Iterable[Future[Any]]:
    """Return the futures that are done, once one is."""
    return wait(futures, return_when=FIRST_COMPLETED).done


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


class DaskEngine:
    """The scheduler at ``address`` with at most ``workers`` jobs at a time; without one, local processes."""

    def __init__(self, workers: int, address: str | None = None) -> None:
        self.workers, self.address = workers, address
        self._dask: Any = import_module("distributed")  # keeps type checks the same without Dask

    def run(self, jobs: Iterable[J], handler: JobHandler[J, R]) -> Generator[R, None, None]:
        """Run the jobs; Dask restarts those whose worker died, as often as its settings allow."""
        with ExitStack() as stack:
            client = self._client(stack)

            def submit(job: J) -> Any:
                # Not scattered: what only a worker holds dies with it, and Dask then cancels the jobs that need it.
                return client.submit(_handle_job, handler, job, pure=False)

            def wait_for_any(futures: Sequence[Any]) -> Any:
                return self._dask.wait(futures, return_when="FIRST_COMPLETED").done

            for job, future in _submit_in_window(jobs, submit, wait_for_any, self.workers):
                try:
                    yield future.result()
                except self._dask.KilledWorker as e:
                    yield handler.handle_lost(job, f"the Dask workers that ran this died: {e}")

    def _client(self, stack: ExitStack) -> Any:
        where: Any = self.address
        if where is None:
            cluster = self._dask.LocalCluster(n_workers=self.workers, threads_per_worker=1, dashboard_address=None)
            where = stack.enter_context(cluster)
        try:
            return stack.enter_context(self._dask.Client(where))
        except (OSError, ValueError) as e:
            raise InfrastructureError(f"there is no Dask scheduler at {self.address}: {e}") from e


class RayEngine:
    """The cluster at ``address`` with at most ``workers`` jobs at a time; without one, local processes.

    ``"auto"`` is the cluster that this machine belongs to. If this process has initialised Ray, the engine uses that.
    """

    def __init__(self, workers: int, address: str | None = None) -> None:
        self.workers, self.address = workers, address
        self._ray: Any = import_module("ray")  # keeps type checks the same without Ray

    def run(self, jobs: Iterable[J], handler: JobHandler[J, R]) -> Generator[R, None, None]:
        """Run the jobs; Ray restarts those whose worker died."""
        ours = not self._ray.is_initialized()
        if ours:
            self._connect()
        try:
            yield from self._results(jobs, handler)
        finally:
            if ours:
                self._ray.shutdown()

    def _results(self, jobs: Iterable[J], handler: JobHandler[J, R]) -> Generator[R, None, None]:
        ray, failures = self._ray, self._ray.exceptions
        task, everywhere = ray.remote(max_retries=MAX_RESTARTS)(_handle_job), ray.put(handler)

        def wait_for_any(references: Sequence[Any]) -> Any:
            return ray.wait(list(references), num_returns=1)[0]

        for job, reference in _submit_in_window(
            jobs, lambda job: task.remote(everywhere, job), wait_for_any, self.workers
        ):
            try:
                yield ray.get(reference)
            except failures.RayTaskError as e:
                raise e.cause from None
            except failures.RayError as e:
                yield handler.handle_lost(job, f"the Ray workers that ran this died: {type(e).__name__}")

    def _connect(self) -> None:
        local = {} if self.address else {"num_cpus": self.workers, "include_dashboard": False}
        try:
            self._ray.init(address=self.address or "local", log_to_driver=False, logging_level="error", **local)
        except (ConnectionError, ValueError, RuntimeError) as e:
            raise InfrastructureError(f"Ray cannot be used at {self.address or 'this machine'}: {e}") from e


_LOCAL: dict[str, Callable[[int], Engine]] = {"threads": ThreadEngine, "processes": ProcessEngine}
_REMOTE: dict[str, Callable[[int, str | None], Engine]] = {"dask": DaskEngine, "ray": RayEngine}

ENGINE_NAMES = (*_LOCAL, *_REMOTE)
"""The names of the engines."""


def default_jobs() -> int:
    """How many episodes run at a time where the user does not say: one for each processor, 2 to 8."""
    return max(2, min(8, usable_processors()))


def make_engine(name: str, workers: int, address: str | None = None) -> Engine:
    """Return the engine with this name, for this many jobs at a time; ``address`` is a Dask or Ray cluster's.

    Raises: UsageError for an unknown name, an address without use, or a missing package.
    """
    if name not in ENGINE_NAMES:
        raise UsageError(f"there is no engine {in_quotes(name)}; {plugins.suggest_names(name, ENGINE_NAMES)}")
    if name in _LOCAL:
        if address:
            raise UsageError(f"the engine {name} runs on this machine; leave --address out, or name dask or ray")
        return _LOCAL[name](workers)
    try:
        return _REMOTE[name](workers, address)
    except ImportError as e:
        raise UsageError(f"the engine {name} is not installed ({e}); pip install 'codeplan[{name}]'") from None
