"""The trainings of a bench: they run before its cells follow the plans, and their results are tables.

    OUT/trainings/<training>/plan-1-01.txt                   the plan after the first iteration
    OUT/trainings/<training>/episodes/001/trace.jsonl        the first training episode

A training is finished up to an iteration if that iteration's plan is there. An unfinished training continues from its
traces, without repeating recorded calls.

The tables show success after each iteration by batch size, and tests between batch sizes: AutoPlan's Figure 3a and
Table 5 (Ouyang & Li 2023). A training's value is the success rate of its plan over all episodes of the plan's cell.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from codeplan.bench.bench_spec import ResolvedBench
from codeplan.bench.engines import run_in_threads
from codeplan.bench.grid import BenchCell, BenchGrid, LearntPlan, Training, TrainingJob
from codeplan.bench.store import BenchRecord, safe_file_name
from codeplan.bench.tables import STAND_IN_MARK, STAND_IN_NOTE, BenchTable
from codeplan.budget import Spending
from codeplan.cancellation import Cancellation
from codeplan.errors import Diverged, InfrastructureError, UsageError
from codeplan.methods.autoplan import batch_name, batch_plan
from codeplan.recording.events import EpisodeEnded, Event, EventHandler
from codeplan.recording.trace import EventsOnly, Trace
from codeplan.runner import episodes
from codeplan.statistics import welch_test
from codeplan.types import Result, Value
from codeplan.untrusted.files import is_regular_file, list_folder, refuse_links
from codeplan.untrusted.texts import shell_word, with_count

TRAININGS_FOLDER = "trainings"

TrainingObserver = Callable[[int], AbstractContextManager[EventHandler | None]]
"""Takes the number of training episodes; a context manager whose value, unless None, is called with each event."""


def wanted_plans(grid: BenchGrid) -> list[LearntPlan]:
    """The last plan of each training that a cell of the grid follows."""
    return last_plans(cell.learnt for cell in grid.cells if cell.learnt)


def last_plans(plans: Iterable[LearntPlan]) -> list[LearntPlan]:
    """The last plan of each training."""
    wanted: dict[str, LearntPlan] = {}
    for plan in plans:
        before = wanted.setdefault(plan.training.name, plan)
        wanted[plan.training.name] = max(before, plan, key=lambda one: one.iteration)
    return [*wanted.values()]


def training_results(folder: Path, training: Training) -> list[Result]:
    """The results of a training's episodes that ended, in the bench's folder. Damaged traces are left out."""
    place = _training_folder(folder, training) / "episodes"
    try:
        names = sorted(entry.name for entry in list_folder(place, folder) if entry.is_folder)
    except OSError:
        return []
    found = []
    for name in names:
        if is_regular_file(trace := place / name / episodes.TRACE_NAME, folder):
            with suppress(UsageError):
                last = Trace.read(trace)[-1:]
                found += [end.result for end in last if isinstance(end, EpisodeEnded) and not end.broken_off]
    return found


def run_trainings(
    plan: ResolvedBench, folder: Path, spending: Spending, workers: int, observer: TrainingObserver | None
) -> dict[str, dict[str, Any]]:
    """Run the remaining trainings that the grid's cells need, ``workers`` at a time.

    Returns each cell's settings, with the plan that it follows; those of a cell are left out if a spent budget kept
    its plan from being learnt. ``spending`` counts all training episodes, those of earlier starts included.

    Raises:
        InfrastructureError: it broke trainings off; the others are finished.
        Diverged: a training differs from its recording.
        UsageError: a folder or a file of the trainings is a link, or cannot be written.
    """
    jobs = {job.training.name: job for job in plan.trainings}
    wanted = wanted_plans(plan.grid)
    left = [one for one in wanted if not is_learnt(folder, one)]
    for one in (one for one in wanted if one not in left):
        for result in training_results(folder, one.training):
            spending.add(result)
    count = sum(one.training.batch * one.iteration for one in left)
    with observer(count) if observer and left else nullcontext() as on_event:
        worker = _TrainingWorker(folder, jobs, spending, on_event)
        running = run_in_threads(workers, left, worker, worker.cancellation.cancel)
        failures = [failure for failure in running if failure]
    if failures:
        broken = f"{len(failures)} of {with_count(len(wanted), 'training')} broken off"
        failures[0].add_note(f"{broken}; to continue, repeat the command with --out {shell_word(folder)}")
        raise failures[0]
    return {
        cell.name: {**plan.settings[cell.name], "plan": str(_plan_file(folder, cell.learnt).resolve())}
        for cell in plan.grid.cells
        if cell.learnt and is_learnt(folder, cell.learnt)
    }


class _TrainingWorker:
    """Trains up to a plan, in any thread. Returns what broke the training off, None if nothing did."""

    def __init__(
        self, folder: Path, jobs: Mapping[str, TrainingJob], spending: Spending, on_event: EventHandler | None
    ) -> None:
        self.cancellation = Cancellation()
        self._folder, self._jobs, self._spending = folder, jobs, spending
        self._on_event, self._lock = on_event, threading.Lock()

    def __call__(self, wanted: LearntPlan) -> InfrastructureError | None:
        job = self._jobs[wanted.training.name]
        place = _training_folder(self._folder, wanted.training)
        tasks = job.tasks[: wanted.training.batch * wanted.iteration]
        settings = {**job.settings, "folder": place, "budget": job.budget, "spending": self._spending}
        try:
            refuse_links(place / "episodes", self._folder)
            with self.cancellation.in_force():
                episodes.learn(
                    job.env,
                    tasks,
                    job.method,
                    job.model,
                    out=place / "episodes",
                    on_event=EventsOnly(self._handle),
                    **settings,
                )
        except Diverged as e:
            e.add_note(f"the training is in {place}; give the same settings again, or remove that folder to train anew")
            raise
        except OSError as e:
            raise UsageError(f"the training cannot be written to {place}: {e.strerror}") from None
        except InfrastructureError as failure:
            return failure
        return None

    def _handle(self, event: Event) -> None:
        if self._on_event:
            with self._lock:
                self._on_event(event)


def _training_folder(folder: Path, training: Training) -> Path:
    return folder / TRAININGS_FOLDER / safe_file_name(training.name)


def _plan_file(folder: Path, plan: LearntPlan) -> Path:
    return batch_plan(_training_folder(folder, plan.training), batch_name(1, plan.iteration))


def is_learnt(folder: Path, plan: LearntPlan) -> bool:
    """Whether the bench's folder has the plan."""
    return is_regular_file(_plan_file(folder, plan), folder)


TEST_NOTE = (
    "The p is two-sided, of Welch's t-test between the trainings' success rates. It is empty with fewer than two "
    "trainings of a batch size, or if the rates of neither differ."
)


class TrainingRates(Value, frozen=True):
    """The success rates, in per cent, of one cell's trainings, by batch size and iteration.

    ``cell`` is the name without the part that distinguishes trainings. A plan has a rate once all of its episodes have
    ended; ``trainings`` is the number of trainings of each batch size, ``plans`` are the plans that they have learnt.
    """

    cell: str
    model: str
    trainings: dict[int, int]
    iterations: tuple[int, ...]
    rates: dict[tuple[int, int], list[float]]
    plans: tuple[LearntPlan, ...]

    def p_value(self, first: int, second: int, iteration: int) -> float | None:
        """The p of the test between two batch sizes; None if there are too few data."""
        found = welch_test(self.rates.get((first, iteration), ()), self.rates.get((second, iteration), ()))
        return found.p_value if found else None

    @property
    def owner(self) -> str:
        """The model, with the stand-in's mark."""
        return self.model + STAND_IN_MARK * (self.model == "scripted")

    def notes(self) -> Iterator[str]:
        """Notes on trainings that are not evaluated yet, and on the stand-in."""
        for batch, trainings in self.trainings.items():
            ended = [len(self.rates.get((batch, iteration), ())) for iteration in self.iterations]
            if min(ended) < trainings:
                counts = ", ".join(map(str, ended))
                yield (
                    f"Batch size {batch}: after the iterations, {counts} of {trainings} plans are evaluated; "
                    "the others are in no figure."
                )
        if self.model == "scripted":
            yield STAND_IN_NOTE


def collect_rates(bench: BenchRecord) -> list[TrainingRates]:
    """The rates of each cell whose plans the bench has learnt; empty for a bench without trainings."""
    trained: dict[str, list[tuple[BenchCell, LearntPlan]]] = {}
    for cell in bench.cells:
        if cell.learnt:
            trained.setdefault(cell.learnt.training.cell, []).append((cell, cell.learnt))
    return [_rates_of(bench, name, cells) for name, cells in trained.items()]


def _rates_of(bench: BenchRecord, name: str, cells: Sequence[tuple[BenchCell, LearntPlan]]) -> TrainingRates:
    rates: dict[tuple[int, int], list[float]] = {}
    numbers: dict[int, set[int]] = {}
    for cell, plan in cells:
        numbers.setdefault(plan.training.batch, set()).add(plan.training.number)
        if (rate := _rate(bench, cell)) is not None:
            rates.setdefault((plan.training.batch, plan.iteration), []).append(rate)
    plans = tuple(plan for _, plan in cells)
    iterations = tuple(sorted({plan.iteration for plan in plans}))
    return TrainingRates(name, cells[0][0].model, {b: len(n) for b, n in numbers.items()}, iterations, rates, plans)


def _rate(bench: BenchRecord, cell: BenchCell) -> float | None:
    """The success rate of a cell in per cent; None until all of its episodes have ended, or if it has none."""
    ended = [outcome.result.success for outcome in bench.outcomes_of(cell.name) if not outcome.broken]
    complete = len(ended) == len(bench.grid.tasks[cell.suite]) * bench.grid.repeats
    return 100 * fmean(ended) if ended and complete else None


def build_training_tables(bench: BenchRecord) -> list[BenchTable]:
    """For each cell with trainings: success after each iteration, then the tests between batch sizes."""
    return [
        table
        for found in collect_rates(bench)
        for table in (rates_table(found, bench), *([p_values_table(found)] if len(found.trainings) > 1 else []))
    ]


def rates_table(found: TrainingRates, bench: BenchRecord) -> BenchTable:
    """Mean and standard deviation over the trainings of each batch size, after each iteration."""
    rows = tuple(
        (str(batch), found.owner, str(n), *(_mean_text(found.rates.get((batch, i), ())) for i in found.iterations))
        for batch, n in found.trainings.items()
    )
    trainings = [plan.training for plan in last_plans(found.plans)]
    spent = Spending(results=[result for one in trainings for result in training_results(bench.folder, one)])
    return BenchTable(
        f"{found.cell}: success after each iteration of training, %: mean ± standard deviation over the trainings",
        ("batch size", "model", "trainings", *(f"iteration {i}" for i in found.iterations)),
        rows,
        (f"The trainings took {spent}.", *found.notes()),
    )


def _mean_text(rates: Sequence[float]) -> str:
    if not rates:
        return ""
    return f"{fmean(rates):.1f} ± {stdev(rates):.1f}" if len(rates) > 1 else f"{fmean(rates):.1f}"


def p_values_table(found: TrainingRates) -> BenchTable:
    """The p of the tests between the first batch size and each other, after each iteration."""
    first, *others = found.trainings
    rows = tuple(
        (f"{first} against {other}", found.owner, *(format_p(found.p_value(first, other, i)) for i in found.iterations))
        for other in others
    )
    columns = ("batch sizes", "model", *(f"iteration {i}" for i in found.iterations))
    notes = (TEST_NOTE, *([STAND_IN_NOTE] if found.model == "scripted" else []))
    return BenchTable(f"{found.cell}: p of t-tests between batch sizes", columns, rows, notes)


def format_p(p: float | None) -> str:
    """The p with two significant digits; empty if there is none."""
    return "" if p is None else f"{p:.2g}"
