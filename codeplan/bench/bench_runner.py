"""Runs the remaining episodes of a bench within its budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from typing import Any

import msgspec

from codeplan.bench import trace_storage
from codeplan.bench.bench_spec import ResolvedBench
from codeplan.bench.engines.engine import Engine
from codeplan.bench.episode_worker import EpisodeJob, EpisodeWorker
from codeplan.bench.grid import BenchGrid
from codeplan.bench.store import BenchRecord, BenchStore, EpisodeOutcome, order_outcomes, read_bench
from codeplan.bench.training_runner import TrainingObserver, run_trainings
from codeplan.budget import Spending, TotalBudget
from codeplan.errors import BudgetExceeded, UsageError
from codeplan.types.display import html_text


class BenchOutcome(msgspec.Struct, frozen=True):
    """The bench, and the budget that stopped it before its last episode (None if none did)."""

    bench: BenchRecord
    stopped_by: BudgetExceeded | None

    def __repr__(self) -> str:
        return f"BenchOutcome(bench={self.bench!r}, stopped_by={self.stopped_by!r})"

    def _repr_html_(self) -> str:
        """The bench as a table, for a notebook, with the budget that stopped it."""
        stopped = f"<p>{html_text(f'stopped: {self.stopped_by}')}</p>" if self.stopped_by else ""
        return self.bench._repr_html_() + stopped


def remaining_jobs(grid: BenchGrid, outcomes: Iterable[EpisodeOutcome]) -> list[EpisodeJob]:
    """Return the episodes that have no outcome yet or that infrastructure broke off.

    They are ordered by task, then by cell, so that a bench that stops early can be compared in pairs.
    """
    done = {e.key for e in outcomes if not e.broken}
    every = (
        EpisodeJob(cell, task, repeat)
        for repeat in range(grid.repeats)
        for suite, tasks in grid.tasks.items()
        for task in tasks
        for cell in grid.cells
        if cell.suite == suite
    )
    return [job for job in every if (job.cell.name, job.task.id, job.repeat) not in done]


BenchObserver = Callable[[BenchRecord], AbstractContextManager[Callable[[EpisodeOutcome], None] | None]]
"""Takes the bench as it starts; a context manager whose value, unless it is None, is called with each outcome."""


def run_bench(
    plan: ResolvedBench,
    engine: Engine,
    folder: Path | None = None,
    *,
    budget: TotalBudget | None = None,
    observer: BenchObserver | None = None,
    training_observer: TrainingObserver | None = None,
    **worker_settings: Any,
) -> BenchOutcome:
    """Run the remaining episodes of a bench and store each outcome in ``folder``; None stores nothing.

    ``worker_settings`` are the other fields of EpisodeWorker. An interrupted bench continues when this is called again
    with the same folder. Trainings run before all episodes; ``budget`` limits both together, and ``training_observer``
    receives the trainings' episodes.

    Raises: UsageError: a setting is wrong, the folder holds another bench, or a bench with trainings has no folder.
    """
    _require_files(plan, folder, worker_settings)
    with ExitStack() as stack:
        store = stack.enter_context(BenchStore(folder, plan.grid)) if folder else None
        bench = read_bench(folder) if folder else BenchRecord(Path(), plan.grid)
        spending, settings = Spending(budget, [outcome.result for outcome in bench.outcomes]), plan.settings
        if folder and plan.trainings:
            settings = run_trainings(plan, folder, spending, engine.workers, training_observer)
        on_outcome = stack.enter_context(observer(bench)) if observer else None
        where = str(folder.resolve()) if folder else None
        outcomes = list(bench.outcomes)

        def keep(outcome: EpisodeOutcome) -> None:
            if store:
                store.append(outcome)
            outcomes.append(outcome)
            if on_outcome:
                on_outcome(outcome)

        worker = EpisodeWorker(folder=where, settings=settings, **worker_settings)
        stopped = _run_jobs(remaining_jobs(plan.grid, outcomes), worker, engine, spending, keep)
    return BenchOutcome(BenchRecord(bench.folder, plan.grid, order_outcomes(plan.grid, outcomes)), stopped)


def _require_files(plan: ResolvedBench, folder: Path | None, worker_settings: Mapping[str, Any]) -> None:
    """Raise UsageError if the bench has trainings, and its episodes would not find their plans."""
    if plan.trainings and any(worker_settings.get("tapes", {}).values()):
        raise UsageError("trainings go on no tape; omit --record and --replay")
    if plan.trainings and (folder is None or worker_settings.get("storage")):
        raise UsageError(
            "trainings keep their plans in the bench's folder, which all workers must share; give --out, omit --storage"
        )


def _run_jobs(
    jobs: Sequence[EpisodeJob],
    worker: EpisodeWorker,
    engine: Engine,
    spending: Spending,
    keep: Callable[[EpisodeOutcome], None],
) -> BudgetExceeded | None:
    """Run the jobs and call ``keep`` with each outcome, in this thread. Returns the budget that stopped them early."""

    def affordable() -> Iterator[EpisodeJob]:
        for job in jobs:
            if spending.exceeded_budget:
                return
            yield job

    count = 0
    with closing(engine.run(affordable(), worker)) as outcomes:
        for outcome in outcomes:
            if worker.storage and worker.folder and outcome.result.trace:
                trace_storage.download_folder(worker.storage, outcome.run, Path(worker.folder, outcome.run))
            spending.add(outcome.result)
            keep(outcome)
            count += 1
    return spending.exceeded_budget if count < len(jobs) else None
