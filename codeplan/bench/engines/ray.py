"""Jobs on Ray: on a running cluster, or in processes on this machine."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from importlib import import_module
from typing import Any

from codeplan.bench.engines.engine import MAX_RESTARTS, J, JobHandler, R, handle_job
from codeplan.bench.engines.job_window import submit_in_window
from codeplan.errors import InfrastructureError

ray: Any = import_module("ray")  # keeps type checks the same without Ray
failures: Any = import_module("ray.exceptions")


class RayEngine:
    """The cluster at ``address`` with at most ``workers`` jobs at a time; without one, local processes.

    ``"auto"`` is the cluster that this machine belongs to. If this process has initialised Ray, the engine uses that.
    """

    def __init__(self, workers: int, address: str | None = None) -> None:
        self.workers, self.address = workers, address

    def run(self, jobs: Iterable[J], handler: JobHandler[J, R]) -> Generator[R, None, None]:
        """Run the jobs; Ray restarts those whose worker died."""
        ours = not ray.is_initialized()
        if ours:
            self._connect()
        try:
            yield from self._results(jobs, handler)
        finally:
            if ours:
                ray.shutdown()

    def _results(self, jobs: Iterable[J], work: JobHandler[J, R]) -> Generator[R, None, None]:
        task, everywhere = ray.remote(max_retries=MAX_RESTARTS)(handle_job), ray.put(work)
        for job, reference in submit_in_window(
            jobs, lambda job: task.remote(everywhere, job), _wait_for_any, self.workers
        ):
            try:
                yield ray.get(reference)
            except failures.RayTaskError as e:
                raise e.cause from None
            except failures.RayError as e:
                yield work.handle_lost(job, f"the Ray workers that ran this died: {type(e).__name__}")

    def _connect(self) -> None:
        local = {} if self.address else {"num_cpus": self.workers, "include_dashboard": False}
        try:
            ray.init(address=self.address or "local", log_to_driver=False, logging_level="error", **local)
        except (ConnectionError, ValueError, RuntimeError) as e:
            raise InfrastructureError(f"Ray cannot be used at {self.address or 'this machine'}: {e}") from e


def _wait_for_any(references: Sequence[Any]) -> Any:
    return ray.wait(list(references), num_returns=1)[0]
