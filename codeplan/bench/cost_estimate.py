"""What a bench will cost, before it is played: ranges of calls, tokens and money, from episodes of the same cells.

The episodes come from earlier benches, or from a pilot of a few tasks of each cell. Nothing is estimated for a cell
without any: episodes of another method, model or setting say too little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from codeplan.bench.bench_runner import remaining_jobs
from codeplan.bench.store import GRID_FILE, BenchCell, BenchGrid, BenchRecord, EpisodeOutcome, read_bench
from codeplan.errors import UsageError
from codeplan.statistics import predicted_sum
from codeplan.types import Result, Task, Value
from codeplan.untrusted.files import is_regular_file
from codeplan.untrusted.folders import list_folder

PILOT_TASKS = 2
"""Tasks of each cell that a pilot plays."""

MAX_BENCHES = 50
"""Earlier benches in a folder that are read, the last by name first."""

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
    """What a cell's remaining ``episodes`` will cost, from ``seen`` episodes.

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
        """The cells with episodes to play of which none like them was seen."""
        return tuple(one.cell for one in self.cells if one.episodes and not one.seen)


def estimate_cost(grid: BenchGrid, played: Iterable[EpisodeOutcome], earlier: Sequence[BenchRecord]) -> BenchEstimate:
    """What the remaining episodes of a grid will cost, given those ``played`` of it and of ``earlier`` benches."""
    own = [outcome for outcome in played if not outcome.broken]
    jobs = remaining_jobs(grid, own)
    cells = []
    for cell in grid.cells:
        seen = [o.result for o in own if o.cell == cell.name] + [r for bench in earlier for r in _like(cell, bench)]
        tasks = [job.task for job in jobs if job.cell.name == cell.name]
        ranges = {name: _range(of, tasks, seen) for name, of in _COSTS.items()}
        cells.append(CellEstimate(cell.name, len(tasks), len(seen), **ranges))
    return BenchEstimate(tuple(cells), _total(cells))


def _like(cell: BenchCell, bench: BenchRecord) -> Iterable[Result]:
    """The results of a bench's cells that have the same environment, method, model and settings."""
    for other in bench.cells:
        if replace(other, name=cell.name, suite=cell.suite, budget=cell.budget) == cell:
            yield from (outcome.result for outcome in bench.outcomes_of(other.name) if not outcome.broken)


def _range(cost: Callable[[Result], float | None], tasks: Sequence[Task], seen: Sequence[Result]) -> CostRange | None:
    """The range over the tasks; by kind of task if episodes of each of their kinds were seen, else over all."""
    values = [cost(result) for result in seen]
    known = [value for value in values if value is not None]
    if not tasks:
        return CostRange(0.0, 0.0)
    if not known or len(known) < len(values):
        return None
    return CostRange(*predicted_sum(_weighted(known, tasks, seen), len(tasks)))


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
    """The sum of the ranges: wider than need be, as the cells' errors are not all on one side."""
    sums: dict[str, CostRange | None] = {}
    for name in _COSTS:
        ranges: list[CostRange | None] = [getattr(one, name) for one in cells]
        known = [one for one in ranges if one is not None]
        whole = len(known) == len(ranges)
        sums[name] = CostRange(sum(r.low for r in known), sum(r.high for r in known)) if whole else None
    return CellEstimate("all", sum(c.episodes for c in cells), sum(c.seen for c in cells), **sums)


def pilot_grid(grid: BenchGrid, cells: Iterable[str]) -> BenchGrid:
    """The part of a grid that a pilot plays: these cells, with two tasks of each suite that lie far apart."""
    chosen = tuple(cell for cell in grid.cells if cell.name in {*cells})
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
