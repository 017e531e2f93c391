"""Jobs on Dask: on a running cluster, or in processes on this machine."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import Any

from codeplan.bench.engines.engine import J, JobHandler, R, handle_job
from codeplan.bench.engines.job_window import submit_in_window
from codeplan.errors import InfrastructureError

distributed: Any = import_module("distributed")  # keeps type checks the same without Dask


class DaskEngine:
    """The scheduler at ``address`` with at most ``workers`` jobs at a time; without one, local processes."""

    def __init__(self, workers: int, address: str | None = None) -> None:
        self.workers, self.address = workers, address

    def run(self, jobs: Iterable[J], handler: JobHandler[J, R]) -> Generator[R, None, None]:
        """Run the jobs; Dask restarts those whose worker died, as often as its settings allow."""
        with ExitStack() as stack:
            client = self._client(stack)
            everywhere = client.scatter(handler, broadcast=True, hash=False)

            def submit(job: J) -> Any:
                return client.submit(handle_job, everywhere, job, pure=False)

            for job, future in submit_in_window(jobs, submit, _wait_for_any, self.workers):
                try:
                    yield future.result()
                except distributed.KilledWorker as e:
                    yield handler.handle_lost(job, f"the Dask workers that ran this died: {e}")

    def _client(self, stack: ExitStack) -> Any:
        where: Any = self.address
        if where is None:
            cluster = distributed.LocalCluster(n_workers=self.workers, threads_per_worker=1, dashboard_address=None)
            where = stack.enter_context(cluster)
        try:
            return stack.enter_context(distributed.Client(where))
        except (OSError, ValueError) as e:
            raise InfrastructureError(f"there is no Dask scheduler at {self.address}: {e}") from e


def _wait_for_any(futures: Sequence[Any]) -> Any:
    return distributed.wait(futures, return_when="FIRST_COMPLETED").done
