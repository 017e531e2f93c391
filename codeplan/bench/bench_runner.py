"""A bench from what is left to play to its last episode, within its budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from codeplan.bench import trace_storage
from codeplan.bench.engines.engine import Engine
from codeplan.bench.episode_worker import EpisodeJob, EpisodeWorker
from codeplan.bench.spec import ResolvedBench
from codeplan.bench.store import BenchGrid, BenchRecord, BenchStore, EpisodeOutcome, order_outcomes, read_bench
from codeplan.errors import BudgetExceeded, UsageError


class BenchBudget(msgspec.Struct, frozen=True, kw_only=True):
    """The budget of a whole bench; None is no limit. No episode begins once it is spent; those that run end.

    ``money`` in US dollars and ``tokens`` count all that ended in the bench's folder, ``seconds`` the wall time of this
    start. An episode whose tokens or price are not known counts for nothing there.
    """

    money: float | None = None
    tokens: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise UsageError(f"the bench's budget of {name} is {value}; give a number that is not negative")


class BenchOutcome(msgspec.Struct, frozen=True):
    """What came of it: the bench, and the budget that stopped it before its last episode, None where none did."""

    bench: BenchRecord
    stopped_by: BudgetExceeded | None


class BenchSpending:
    """What a bench has spent of its allowance."""

    def __init__(self, budget: BenchBudget, ended: Iterable[EpisodeOutcome] = ()) -> None:
        self._budget = budget
        self._spent = {"money": 0.0, "tokens": 0.0}
        self._began = time.monotonic()
        for one in ended:
            self.add(one)

    def add(self, ended: EpisodeOutcome) -> None:
        """Count what an episode spent."""
        self._spent["money"] += ended.result.usage.money or 0.0
        self._spent["tokens"] += ended.result.usage.total_tokens or 0

    @property
    def exceeded_budget(self) -> BudgetExceeded | None:
        """Which budget is spent; None where none is."""
        spent = {**self._spent, "seconds": time.monotonic() - self._began}
        for kind, value in spent.items():
            limit = getattr(self._budget, kind)
            if limit is not None and value >= limit:
                return BudgetExceeded(kind, value, limit)
        return None


def remaining_jobs(grid: BenchGrid, ended: Iterable[EpisodeOutcome]) -> list[EpisodeJob]:
    """What is left to play: all that has not ended, and what infrastructure broke off.

    Task by task, each by all its cells, so that a bench that stops early can be compared in pairs.
    """
    over = {e.key for e in ended if not e.broken}
    every = (
        EpisodeJob(cell, task, repeat)
        for repeat in range(grid.repeats)
        for suite, tasks in grid.tasks.items()
        for task in tasks
        for cell in grid.cells
        if cell.suite == suite
    )
    return [job for job in every if (job.cell.name, job.task.id, job.repeat) not in over]


BenchObserver = Callable[[BenchRecord], AbstractContextManager[Callable[[EpisodeOutcome], None]]]
"""Given the bench as it begins: a context in which each end is told as it comes."""


def run_bench(
    plan: ResolvedBench,
    engine: Engine,
    folder: Path | None = None,
    *,
    budget: BenchBudget | None = None,
    observer: BenchObserver | None = None,
    **worker_settings: Any,
) -> BenchOutcome:
    """Play what is left of a bench, and keep each end in ``folder``; None keeps nothing.

    ``player`` are the other settings of Player. Whatever breaks this off, it goes on when it is called again with the
    same folder. Raises UsageError where a setting is wrong, or the folder holds another bench.
    """
    with ExitStack() as stack:
        store = stack.enter_context(BenchStore(folder, plan.grid)) if folder else None
        bench = read_bench(folder) if folder else BenchRecord(Path(), plan.grid)
        tell = stack.enter_context((observer or _no_observer)(bench))
        where = str(folder.resolve()) if folder else None
        ends = list(bench.outcomes)

        def keep(ended: EpisodeOutcome) -> None:
            if store:
                store.append(ended)
            ends.append(ended)
            tell(ended)

        play = EpisodeWorker(folder=where, settings=plan.settings, **worker_settings)
        stopped = _run_jobs(
            remaining_jobs(plan.grid, ends), play, engine, BenchSpending(budget or BenchBudget(), ends), keep
        )
    return BenchOutcome(BenchRecord(bench.folder, plan.grid, order_outcomes(plan.grid, ends)), stopped)


def _run_jobs(
    jobs: Sequence[EpisodeJob],
    player: EpisodeWorker,
    engine: Engine,
    ledger: BenchSpending,
    keep: Callable[[EpisodeOutcome], None],
) -> BudgetExceeded | None:
    """Play the jobs; ``keep`` is called with each end, in this thread. Returns the budget that ended it early."""

    def affordable() -> Iterator[EpisodeJob]:
        for job in jobs:
            if ledger.exceeded_budget:
                return
            yield job

    played = 0
    with closing(engine.run(affordable(), player)) as ends:
        for ended in ends:
            if player.storage and player.folder and ended.result.trace:
                trace_storage.download_folder(player.storage, ended.run, Path(player.folder, ended.run))
            ledger.add(ended)
            keep(ended)
            played += 1
    return ledger.exceeded_budget if played < len(jobs) else None


@contextmanager
def _no_observer(bench: BenchRecord) -> Iterator[Callable[[EpisodeOutcome], None]]:
    yield lambda ended: None
