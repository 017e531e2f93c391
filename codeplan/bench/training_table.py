"""Results of a bench's trainings: success after each iteration by batch size, and tests between batch sizes.

AutoPlan's Figure 3a and Table 5 (Ouyang & Li 2023). A training's value is the success rate of its plan over all
episodes of the plan's cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, stdev

from codeplan.bench.grid import BenchCell
from codeplan.bench.store import BenchRecord
from codeplan.bench.tables import STAND_IN_MARK, STAND_IN_NOTE, BenchTable
from codeplan.bench.training_runner import last_plans, training_results
from codeplan.bench.trainings import LearntPlan
from codeplan.budget import Spending
from codeplan.statistics import welch_test
from codeplan.types import Value

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
