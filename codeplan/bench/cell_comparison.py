"""Compares two cells task by task: which is better, how certain that is, and how many more tasks would make it
certain.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from pathlib import Path
from statistics import fmean

from msgspec.structs import replace

from codeplan.bench.grid import BenchCell
from codeplan.bench.metrics import (
    METRICS,
    CellStatistics,
    EpisodeMeasures,
    MeasuredEpisode,
    cell_statistics,
    measure_cell,
    usual_metrics,
)
from codeplan.bench.papers import PublishedResults, published_results
from codeplan.bench.store import GRID_FILE, BenchRecord, read_bench
from codeplan.durable_files import require_path
from codeplan.errors import UsageError
from codeplan.statistics import RateDifference, bootstrap_mean, clustered_difference, sign_flip_test, tasks_needed
from codeplan.types import Value
from codeplan.untrusted.values import in_quotes

MAX_CELLS = 100
"""Maximum number of cells of a bench that are compared at once."""

MAX_KIND_ROWS = 2000
"""Maximum number of rows for kinds of task, in all cells together."""

MeasuredCell = Mapping[tuple[str, int], MeasuredEpisode]


class ComparedCell(Value, frozen=True):
    """A cell of a bench; ``label`` distinguishes it from the others compared."""

    bench: BenchRecord
    cell: BenchCell
    label: str


class MeanDifference(Value, frozen=True):
    """The means of a metric, scaled for its column, and second minus first with its 95 % bootstrap interval.

    The interval is over the tasks. Ratios of sums, and metrics of the successes alone, are not compared in pairs.
    """

    name: str
    first: float
    second: float
    difference: RateDifference


class CellComparison(Value, frozen=True):
    """Two cells over the pairs of task and repeat that finished in both.

    ``both``, ``only_first``, ``only_second`` and ``neither`` count pairs by who succeeded. ``difference`` is the second
    success rate minus the first, with its 95 % interval (``codeplan.statistics.clustered_difference``); ``p_value`` is
    McNemar's exact two-sided test or, where tasks are repeated, the exact test of signs over the tasks.
    ``more_pairs`` is how many more pairs would find such a difference with a power of 80 %: 0 if there are enough, None
    if there is no difference. ``tasks`` counts the pairs' tasks, ``left_out`` the episodes without a partner,
    broken-off ones included.
    """

    first: str
    second: str
    suite: str
    pairs: int
    both: int
    only_first: int
    only_second: int
    neither: int
    difference: RateDifference
    p_value: float
    more_pairs: int | None
    means: tuple[MeanDifference, ...]
    left_out: int
    tasks: int


class BenchOverview(Value, frozen=True):
    """Everything about some cells: statistics, comparisons and published results. ``metrics`` are the columns.

    ``not_compared`` says of each pair of cells without a common episode why they are not compared.
    ``cells_left_out`` counts the pairs of cells beyond ``MAX_CELLS``. ``kinds_left_out`` counts the kinds of task in
    the cells without a row of their own; the rows of all kinds hold them.
    """

    cells: tuple[ComparedCell, ...]
    statistics: tuple[tuple[str, tuple[CellStatistics, ...]], ...]
    comparisons: tuple[CellComparison, ...]
    published: PublishedResults
    metrics: tuple[str, ...] = ()
    with_intervals: bool = False
    not_compared: tuple[str, ...] = ()
    cells_left_out: int = 0
    kinds_left_out: int = 0


def build_overview(first: Path | str, second: Path | str | None = None, metrics: Sequence[str] = ()) -> BenchOverview:
    """Compare ``FOLDER`` or ``FOLDER:CELL`` with another; for a folder alone, each cell with the first of its suite
    that has a finished episode.

    ``CELL`` is a cell's name, or a part of the names of one or several. Several cells on both sides are compared in
    pairs of the same name, or else of the same suite and model, or suite and method. ``metrics`` are the columns, each
    with its interval; without them, the usual ones. Only the first ``MAX_CELLS`` pairs of cells are compared.

    Raises: UsageError: there is no such bench or cell, or a cell has no partner.
    """
    pairs = _cell_pairs(first, second)
    compared = pairs[:MAX_CELLS]
    sides = tuple({s.label: s for pair in compared for s in pair}.values())
    return replace(_overview(sides, compared, metrics), cells_left_out=len(pairs) - len(compared))


def describe_cells(bench: BenchRecord, metrics: Sequence[str]) -> BenchOverview:
    """The statistics of a bench's cells, without comparisons."""
    return _overview([ComparedCell(bench, cell, cell.name) for cell in bench.cells], [], metrics)


def _overview(
    sides: Sequence[ComparedCell], pairs: Sequence[tuple[ComparedCell, ...]], chosen: Sequence[str]
) -> BenchOverview:
    measured = {s.label: measure_cell(s.bench, s.cell) for s in sides}
    every = [measures for cell in measured.values() for _, measures in cell.values()]
    names = tuple(chosen) or usual_metrics(every)
    max_kinds = MAX_KIND_ROWS // max(len(sides), 1)
    statistics = tuple(
        (s.label, tuple(cell_statistics(s.cell, episodes, names, with_intervals=bool(chosen), max_kinds=max_kinds)))
        for s in sides
        for episodes in [[*measured[s.label].values()]]
    )
    kinds = (len({ended.task.kind for ended, _ in cell.values()}) for cell in measured.values())
    kinds_left_out = sum(max(0, found - max_kinds) for found in kinds)
    compared: list[CellComparison] = []
    not_compared: list[str] = []
    for first, second in (pair for pair in pairs if len(pair) > 1):
        try:
            compared.append(compare_cells(first, second, measured[first.label], measured[second.label], names))
        except UsageError as e:
            not_compared.append(str(e))
    return BenchOverview(
        cells=tuple(sides),
        statistics=statistics,
        comparisons=tuple(compared),
        published=_published(sides),
        metrics=names,
        with_intervals=bool(chosen),
        not_compared=tuple(not_compared),
        kinds_left_out=kinds_left_out,
    )


def _published(sides: Sequence[ComparedCell]) -> PublishedResults:
    """The published results that may stand beside any of the benches."""
    found = [published_results(bench) for bench in {s.bench.folder: s.bench for s in sides}.values()]
    rows = {(row.suite, row.source, row.model, row.method): row for one in found for row in one.rows}
    reasons = dict.fromkeys(reason for one in found for reason in one.reasons)
    return PublishedResults(tuple(rows.values()), tuple(reasons))


def compare_cells(
    first: ComparedCell,
    second: ComparedCell,
    first_episodes: MeasuredCell,
    second_episodes: MeasuredCell,
    metrics: Sequence[str],
) -> CellComparison:
    """Compare two cells by their episodes, in success and in these metrics.

    Raises: UsageError if they have no pair in common.
    """
    keys = [
        key
        for key in first_episodes
        if key in second_episodes and first_episodes[key][0].task == second_episodes[key][0].task
    ]
    if not keys:
        raise UsageError(_why_not(first.label, second.label, first_episodes, second_episodes))
    pairs = [(key, first_episodes[key][1], second_episodes[key][1]) for key in keys]
    wins = [(a.success, b.success) for _, a, b in pairs]
    b, c = wins.count((True, False)), wins.count((False, True))
    repeats = Counter(task for (task, _), _, _ in pairs)
    by_task = dict.fromkeys(repeats, 0)
    for (task, _), x, y in pairs:
        by_task[task] += y.success - x.success
    differences = list(by_task.values())
    return CellComparison(
        first.label,
        second.label,
        first.cell.suite,
        len(pairs),
        wins.count((True, True)),
        b,
        c,
        wins.count((False, False)),
        clustered_difference([(d, repeats[task]) for task, d in by_task.items()]),
        sign_flip_test(differences),
        _more_pairs(differences, b, c, len(pairs)),
        tuple(_mean_differences(pairs, [name for name in metrics if name != "success"])),
        sum(len(side.bench.outcomes_of(side.cell.name)) for side in (first, second)) - 2 * len(pairs),
        len(differences),
    )


def _why_not(first: str, second: str, first_episodes: MeasuredCell, second_episodes: MeasuredCell) -> str:
    """Why two cells have no pair of episodes."""
    if first_episodes and second_episodes:
        return f"{first} and {second} have no finished episode of the same task in common"
    empty = [label for label, episodes in ((first, first_episodes), (second, second_episodes)) if not episodes]
    return f"{' and '.join(empty)} {'has' if len(empty) == 1 else 'have'} no finished episode"


def _more_pairs(differences: Sequence[int], b: int, c: int, n: int) -> int | None:
    """``tasks_needed``, for pairs of which those of one task count for less the more alike they are."""
    more = tasks_needed(b, c, n)
    effect = max(1.0, sum(d * d for d in differences) / (b + c)) if b + c else 1.0
    return more if more is None else max(0, ceil((n + more) * effect) - n)


def _mean_differences(
    pairs: Sequence[tuple[tuple[str, int], EpisodeMeasures, EpisodeMeasures]], names: Sequence[str]
) -> Iterable[MeanDifference]:
    """Each metric known for all pairs. Repeats of a task are averaged first: they are not independent."""
    for name in (name for name in names if METRICS[name].per is None and not METRICS[name].of_successes):
        metric = METRICS[name]
        by_task: dict[str, list[tuple[float, float]]] = {}
        for (task, _), a, b in pairs:
            first, second = metric.value(a), metric.value(b)
            if first is None or second is None:
                break
            by_task.setdefault(task, []).append((metric.scale * first, metric.scale * second))
        else:
            tasks = [(fmean(a for a, _ in values), fmean(b for _, b in values)) for values in by_task.values()]
            first, second = fmean(a for a, _ in tasks), fmean(b for _, b in tasks)
            low, high = bootstrap_mean([b - a for a, b in tasks])
            yield MeanDifference(name, first, second, RateDifference(second - first, low, high))


def _cell_pairs(first: Path | str, second: Path | str | None) -> list[tuple[ComparedCell, ...]]:
    """The cells to compare, in pairs; the only cell of a suite has no partner."""
    ours = _find_cells(first)
    if second is None:  # a cell without a finished episode is no head if there is another
        heads: dict[str, ComparedCell] = {}
        for side in sorted(ours, key=lambda s: all(o.broken for o in s.bench.outcomes_of(s.cell.name))):
            heads.setdefault(side.cell.suite, side)
        return [(head, s) if s is not head else (s,) for s in ours for head in [heads[s.cell.suite]]]
    theirs = _find_cells(second)
    if len(ours) == len(theirs) == 1:
        return [_distinct_labels(ours[0], theirs[0])]
    for same in _ALIKE:
        partners = {same(s): s for s in theirs}
        if len(partners) == len(theirs) == len(ours) and {same(s) for s in ours} == partners.keys():
            return [_distinct_labels(s, partners[same(s)]) for s in ours]
    sides = (", ".join(s.label for s in side) for side in (ours, theirs))
    raise UsageError(
        "each cell on one side needs one on the other, of the same name, or on the same suite with the same model or "
        f"the same method; the first has {next(sides)}, the second {next(sides)}; name one cell on each side, as "
        "FOLDER:CELL"
    )


_ALIKE: tuple[Callable[[ComparedCell], object], ...] = (
    lambda side: side.cell.name,
    lambda side: (side.cell.suite, side.cell.model),
    lambda side: (side.cell.suite, side.cell.method),
)
"""What makes two cells partners, if each has one: their names, or all but the method or the model."""


def _distinct_labels(first: ComparedCell, second: ComparedCell) -> tuple[ComparedCell, ComparedCell]:
    """Both cells, labelled with their folders if their names are equal."""
    if first.label != second.label:
        return first, second
    a, b = (f"{s.bench.folder}:{s.label}" for s in (first, second))
    if a == b:
        raise UsageError(f"{a} is on both sides; name another bench, or another cell of it")
    return ComparedCell(first.bench, first.cell, a), ComparedCell(second.bench, second.cell, b)


def _find_cells(spec: Path | str) -> list[ComparedCell]:
    """The cells that ``FOLDER`` or ``FOLDER:CELL`` names."""
    folder, part = _split_spec(require_path(spec, "a bench (FOLDER, or FOLDER:CELL)"))
    bench = read_bench(folder)
    found = [c for c in bench.cells if c.name == part] or [c for c in bench.cells if part in c.name]
    if not found:
        names = ", ".join(c.name for c in bench.cells)
        raise UsageError(f"{folder} has no cell with {in_quotes(part)} in its name; its cells are: {names}")
    return [ComparedCell(bench, cell, cell.name) for cell in found]


def _split_spec(spec: str) -> tuple[str, str]:
    """The folder and the cell of ``FOLDER:CELL``. Both may hold colons: the folder is the longest that is a bench."""
    if ":" not in spec or os.path.exists(spec):
        return spec, ""
    places = [place for place, sign in enumerate(spec) if sign == ":"]
    place = next((p for p in reversed(places) if os.path.exists(os.path.join(spec[:p], GRID_FILE))), places[0])
    return spec[:place], spec[place + 1 :]
