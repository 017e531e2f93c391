"""Estimates the cost of a bench before it is played: ranges of calls, tokens and money, from episodes of the same
cells.

The episodes come from earlier benches, or from a pilot of a few tasks of each cell. A cell without such episodes gets
no estimate, because episodes of another method, model or setting say too little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from codeplan.bench.bench_runner import remaining_jobs
from codeplan.bench.grid import BenchCell, BenchGrid, LearntPlan
from codeplan.bench.store import GRID_FILE, BenchRecord, read_bench
from codeplan.bench.trainings import is_learnt, training_results, wanted_plans
from codeplan.errors import UsageError
from codeplan.statistics import predicted_sum
from codeplan.types import Result, Task, Value
from codeplan.untrusted.files import is_regular_file, list_folder
from codeplan.untrusted.texts import with_count

PILOT_TASKS = 2
"""Number of tasks of each cell that a pilot plays."""

MAX_BENCHES = 50
"""Maximum number of earlier benches that are read from a folder, the last by name first."""

_COSTS: dict[str, Callable[[Result], float | None]] = {
    "calls": lambda result: result.model_calls,
    "tokens": lambda result: result.usage.total_tokens,
    "money": lambda result: result.usage.money,
}


class CostRange(Value, frozen=True):
    """A sum over the episodes to come lies between ``low`` and ``high`` with a probability of about 95 %."""

    low: float
    high: float


class CellEstimate(Value, frozen=True):
    """The estimated cost of a cell's remaining ``episodes``, from ``seen`` episodes.

    A cell's trainings share one estimate, and so do all cells that follow their plans.

    A range is None if it cannot be estimated: nothing was seen, or an episode's value is unknown. ``money`` is in US
    dollars.
    """

    cell: str
    episodes: int
    seen: int
    calls: CostRange | None = None
    tokens: CostRange | None = None
    money: CostRange | None = None


class BenchEstimate(Value, frozen=True):
    """The estimates of all cells, and of their sum. A range of ``total`` is None if a cell's is."""

    cells: tuple[CellEstimate, ...]
    total: CellEstimate

    @property
    def unseen(self) -> tuple[str, ...]:
        """The cells with remaining episodes but without any recorded episode like them."""
        return tuple(one.cell for one in self.cells if one.episodes and not one.seen)


def estimate_cost(own: BenchRecord, earlier: Sequence[BenchRecord]) -> BenchEstimate:
    """Estimate the cost of a bench's remaining trainings and episodes from its own and those of ``earlier`` benches."""
    jobs = remaining_jobs(own.grid, own.outcomes)
    cells = [_estimate_trainings(name, plans, own, earlier) for name, plans in _plans_by_cell(own.grid).items()]
    first_cells = {_line(cell): cell for cell in reversed(own.cells)}
    for line in dict.fromkeys(map(_line, own.cells)):
        seen = [result for bench in (own, *earlier) for result in _like(first_cells[line], bench)]
        tasks = [job.task for job in jobs if _line(job.cell) == line]
        ranges = {name: _range(of, tasks, seen) for name, of in _COSTS.items()}
        cells.append(CellEstimate(line, len(tasks), len(seen), **ranges))
    return BenchEstimate(tuple(cells), _total(cells))


def _line(cell: BenchCell) -> str:
    """The name under which a cell is estimated. Cells that follow plans of the same trainings count as one."""
    return f"{cell.learnt.training.cell} with its plans" if cell.learnt else cell.name


def _like(cell: BenchCell, bench: BenchRecord) -> Iterable[Result]:
    """The results of a bench's cells that are alike."""
    for other in bench.cells:
        if _alike(cell, other):
            yield from (outcome.result for outcome in bench.outcomes_of(other.name) if not outcome.broken)


def _alike(cell: BenchCell, other: BenchCell) -> bool:
    """Whether two cells have the same environment, method, model and settings, and both follow learnt plans or none."""
    learnt = cell.learnt if other.learnt else None
    return replace(other, name=cell.name, suite=cell.suite, budget=cell.budget, learnt=learnt) == cell


def _plans_by_cell(grid: BenchGrid) -> dict[str, list[LearntPlan]]:
    """The last plan of each training, by the name of the cell that is trained."""
    found: dict[str, list[LearntPlan]] = {}
    for plan in wanted_plans(grid):
        found.setdefault(plan.training.cell, []).append(plan)
    return found


def _estimate_trainings(
    name: str, plans: Sequence[LearntPlan], own: BenchRecord, earlier: Sequence[BenchRecord]
) -> CellEstimate:
    """The estimated cost of a cell's remaining training episodes, from training episodes of any batch size."""
    cell = next(cell for cell in own.cells if cell.learnt == plans[0])
    done = {plan.training.name: training_results(own.folder, plan.training) for plan in plans}
    seen = [result for bench in earlier for result in _like_trainings(cell, bench)]
    seen += [result for results in done.values() for result in results]
    left = [plan for plan in plans if not is_learnt(own.folder, plan)]
    episodes = sum(max(0, plan.training.batch * plan.iteration - len(done[plan.training.name])) for plan in left)
    values = {cost: [of(result) for result in seen] for cost, of in _COSTS.items()}
    ranges = {cost: _predict(found, episodes) for cost, found in values.items()}
    return CellEstimate(f"{name}: {with_count(len(plans), 'training')}", episodes, len(seen), **ranges)


def _like_trainings(cell: BenchCell, bench: BenchRecord) -> Iterable[Result]:
    """The results of the training episodes of a bench's cells that are alike and have the same training settings."""
    settings = cell.learnt.training.settings if cell.learnt else {}
    alike = {other.learnt.training.cell for other in bench.cells if other.learnt and _alike(cell, other)}
    for plan in wanted_plans(bench.grid):
        if plan.training.cell in alike and plan.training.settings == settings:
            yield from training_results(bench.folder, plan.training)


def _predict(values: Sequence[float | None], n: int) -> CostRange | None:
    """The range of ``n`` further values; None if nothing was seen, or a value is unknown."""
    known = [value for value in values if value is not None]
    if not n:
        return CostRange(0.0, 0.0)
    return CostRange(*predicted_sum(known, n)) if known and len(known) == len(values) else None


def _range(cost: Callable[[Result], float | None], tasks: Sequence[Task], seen: Sequence[Result]) -> CostRange | None:
    """The range over the tasks; by kind of task if episodes of each of their kinds were seen, else over all."""
    values = [cost(result) for result in seen]
    known = [value for value in values if value is not None]
    whole = tasks and known and len(known) == len(values)
    return _predict(_weighted(known, tasks, seen) if whole else values, len(tasks))


def _weighted(values: Sequence[float], tasks: Sequence[Task], seen: Sequence[Result]) -> list[float]:
    """The values, scaled so that their mean is that of the kinds as the tasks have them.

    Values stay as they are if not every kind of the tasks was seen.
    """
    by_kind: dict[str, list[float]] = {}
    for value, result in zip(values, seen, strict=True):
        by_kind.setdefault(result.task.kind, []).append(value)
    mean = sum(values) / len(values)
    if not mean or not {task.kind for task in tasks} <= by_kind.keys():
        return list(values)
    wanted = sum(sum(by_kind[task.kind]) / len(by_kind[task.kind]) for task in tasks) / len(tasks)
    return [value * wanted / mean for value in values]


def _total(cells: Sequence[CellEstimate]) -> CellEstimate:
    """The sum of the ranges. It is wider than necessary, because the cells' errors partly cancel out."""
    sums: dict[str, CostRange | None] = {}
    for name in _COSTS:
        ranges: list[CostRange | None] = [getattr(one, name) for one in cells]
        known = [one for one in ranges if one is not None]
        whole = len(known) == len(ranges)
        sums[name] = CostRange(sum(r.low for r in known), sum(r.high for r in known)) if whole else None
    return CellEstimate("all", sum(c.episodes for c in cells), sum(c.seen for c in cells), **sums)


def pilot_grid(grid: BenchGrid, cells: Iterable[str]) -> BenchGrid:
    """The part of a grid that a pilot plays: these cells, with two tasks of each suite that lie far apart.

    Of cells that follow learnt plans it is the first: the first plan of the first training.
    """
    first_cells = {_line(cell): cell for cell in reversed(grid.cells)}
    chosen = tuple(first_cells[line] for line in dict.fromkeys(map(_line, grid.cells)) if line in {*cells})
    suites = {cell.suite for cell in chosen}
    tasks: Mapping[str, tuple[Task, ...]] = {s: t for s, t in grid.tasks.items() if s in suites}
    few = {suite: tuple(dict.fromkeys((of[0], of[len(of) // PILOT_TASKS]))) for suite, of in tasks.items()}
    return BenchGrid(chosen, few, 1, grid.codeplan_version)


def is_bench(folder: Path, below: Path | None = None) -> bool:
    """Whether a folder holds a bench. No link is followed below ``below``, by default the folder itself."""
    return is_regular_file(folder / GRID_FILE, below or folder)


def read_earlier_benches(folder: Path) -> list[BenchRecord]:
    """The bench in a folder, or else the benches in its folders; those that are damaged are left out.

    Empty if there is no such folder.
    """
    if is_bench(folder):
        return [read_bench(folder)]
    try:
        names = sorted((entry.name for entry in list_folder(folder) if entry.is_folder), reverse=True)
    except OSError:
        return []
    found: list[BenchRecord] = []
    for name in names:
        if len(found) < MAX_BENCHES and is_bench(folder / name, folder):
            try:
                found.append(read_bench(folder / name))
            except UsageError:
                continue
    return found
