"""A paper's experiment as tables: the published rows and, below each, what a bench measured.

A published figure is shown only if the bench has its data, split, number of tasks and metric; otherwise a note says
why not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from codeplan.bench.episode_measures import MeasuredEpisode, measure_cell
from codeplan.bench.grid import BenchCell
from codeplan.bench.metrics import METRICS, Metric, estimate_metric
from codeplan.bench.papers.comparable import mismatch
from codeplan.bench.papers.presets import ExperimentPart, ExperimentRow, PaperExperiment, not_run
from codeplan.bench.papers.published import PublishedRow, PublishedTable
from codeplan.bench.store import BenchRecord
from codeplan.bench.tables import STAND_IN_MARK, STAND_IN_NOTE, BenchTable, format_number
from codeplan.bench.training_table import TEST_NOTE, TrainingRates, collect_rates, format_p, rates_table
from codeplan.envs.miniwob.page_folder import FEEDBACK_TASKS
from codeplan.types import Value
from codeplan.untrusted.noun_phrases import with_count

MAX_COLUMNS = 12
"""A table with more kinds of task has a row for each kind."""

P_VALUE = "p_value"
"""The metric of a table that compares trainings."""

_GROUPS = {"feedback": True, "no_feedback": False}
"""Groups of MiniWoB++'s pages, and whether they are those with feedback."""


class PlayedCell(Value, frozen=True):
    """A row of a preset as played: its cell, and the episodes that ended."""

    row: ExperimentRow
    cell: BenchCell
    episodes: tuple[MeasuredEpisode, ...]
    total: int


def build_paper_tables(experiment: PaperExperiment, bench: BenchRecord) -> list[BenchTable]:
    """A table for each published table that the bench's cells measure, in the paper's order."""
    tables: list[BenchTable] = []
    for part in experiment.parts:
        cells = tuple(_played_cells(part, bench))
        for table in part.published:
            if table.metric == P_VALUE:
                tables += _training_tables(table, part, cells, bench)
            else:
                tables.append(_paper_table(table, part, cells, bench))
    if tables and experiment.caveats:
        last = tables.pop()
        tables.append(replace(last, notes=(*last.notes, *experiment.caveats)))
    return tables


def _played_cells(part: ExperimentPart, bench: BenchRecord) -> Iterator[PlayedCell]:
    by_name = {cell.name: cell for cell in bench.cells}
    for row in part.rows:
        for cell in by_name.values():
            name = cell.learnt.training.cell if cell.learnt else cell.name
            if name == f"{part.suite}.{row.name}.{cell.model}" and cell.method == row.method:
                total = len(bench.grid.tasks[cell.suite]) * bench.grid.repeats
                yield PlayedCell(row, cell, tuple(measure_cell(bench, cell).values()), total)


def _paper_table(
    table: PublishedTable, part: ExperimentPart, cells: Sequence[PlayedCell], bench: BenchRecord
) -> BenchTable:
    kinds = tuple(dict.fromkeys(kind for row in table.rows for kind in row.kinds))
    faults = [mismatch(table, one.cell, bench.grid.tasks[one.cell.suite]) for one in cells]
    fault = next(filter(None, faults), "")
    metric = METRICS.get(table.metric)
    only = all(row.overall is None and row.overall_computed is None for row in table.rows)
    lines: list[tuple[str, ...]] = []
    for number, row in enumerate(table.rows, 1):
        lines.append(_published_line(row, kinds, hidden=bool(fault)))
        lines += [
            _measured_line(one, metric, kinds, only=only) for one in cells if one.row.rows[-1] == number and metric
        ]
    unit = metric.title if metric else table.unit
    columns = ("row", "whose", "episodes", unit, "95 %", *kinds)
    if len(kinds) > MAX_COLUMNS:
        columns, lines = _turned(columns, lines)
    notes = tuple(_notes(table, part, cells, fault))
    return BenchTable(f"{table.cited}: {table.title}", columns, tuple(lines), notes)


def _training_tables(
    table: PublishedTable, part: ExperimentPart, cells: Sequence[PlayedCell], bench: BenchRecord
) -> Iterator[BenchTable]:
    """The success rates after each iteration, and the tests between batch sizes below the published ones."""
    names = {one.cell.learnt.training.cell for one in cells if one.cell.learnt}
    measured = [found for found in collect_rates(bench) if found.cell in names]
    yield from (rates_table(found, bench) for found in measured)
    kinds = tuple(dict.fromkeys(kind for row in table.rows for kind in row.kinds))
    faults = [mismatch(table, one.cell, bench.grid.tasks[one.cell.suite]) for one in cells]
    fault = next(filter(None, [*faults, *(_other_trainings(table, found) for found in measured)]), "")
    lines: list[tuple[str, ...]] = []
    for row in table.rows:
        figures = (format_number(row.kinds.get(kind), 3) for kind in kinds)
        runs = str(table.settings["runs"])
        lines.append((row.name, f"paper, {row.model}", runs, *(("–",) * len(kinds) if fault else figures)))
        first, second = row.settings["batch_sizes"]
        for found in measured:
            p_values = (found.p_value(first, second, iteration) for iteration in range(1, len(kinds) + 1))
            runs = str(min(found.trainings.get(batch, 0) for batch in (first, second)))
            lines.append((row.name, f"here, {found.owner}", runs, *map(format_p, p_values)))
    notes = [f"The paper's figures are not shown beside ours: {fault}."] if fault else []
    notes += [TEST_NOTE, *([STAND_IN_NOTE] if any(f.model == "scripted" for f in measured) else []), *part.caveats]
    title = f"{table.cited}: {table.title}"
    yield BenchTable(title, ("row", "whose", "trainings", *kinds), tuple(lines), tuple(notes))


def _other_trainings(table: PublishedTable, found: TrainingRates) -> str:
    """Why the bench's trainings are not the table's, as a clause; empty if they are."""
    wanted, here = table.settings["runs"], {*found.trainings.values()}
    if here == {wanted}:
        return ""
    numbers = ", ".join(map(str, sorted(here)))
    return f"the paper has {with_count(wanted, 'training')} of each batch size, this bench {numbers}"


def _published_line(row: PublishedRow, kinds: Sequence[str], *, hidden: bool) -> tuple[str, ...]:
    overall = row.overall if row.overall is not None else row.overall_computed
    figures = (format_number(overall, 2), "", *(format_number(row.kinds.get(kind), 2) for kind in kinds))
    return row.name, f"paper, {row.model}", "", *(("–",) * len(figures) if hidden else figures)


def _measured_line(one: PlayedCell, metric: Metric, kinds: Sequence[str], *, only: bool) -> tuple[str, ...]:
    """A cell's measured values: over all episodes, or only over the kinds ``only``, and by kind."""
    every = estimate_metric(
        metric, [e for e in one.episodes if not only or any(_is_of_kind(e, kind) for kind in kinds)]
    )
    interval = "" if every.low is None else f"{every.low:.{metric.digits}f} to {every.high:.{metric.digits}f}"
    mark = STAND_IN_MARK if one.cell.model == "scripted" else ""
    by_kind = (estimate_metric(metric, [e for e in one.episodes if _is_of_kind(e, kind)]).value for kind in kinds)
    figures = (format_number(value, metric.digits) for value in (every.value, *by_kind))
    overall, *rest = figures
    return one.row.name, f"here, {one.cell.model}{mark}", str(every.episodes), overall, interval, *rest


def _is_of_kind(episode: MeasuredEpisode, kind: str) -> bool:
    """Whether an episode's task is of a kind, or of a group of MiniWoB++'s pages."""
    if kind in _GROUPS:
        return (episode[0].task.kind in FEEDBACK_TASKS) == _GROUPS[kind]
    return episode[0].task.kind == kind


def _turned(columns: tuple[str, ...], lines: list[tuple[str, ...]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The table with rows and columns exchanged: a column for each line, named after its row and its source."""
    heads = ("", *(f"{line[0]}, {line[1]}" for line in lines))
    return heads, [(column, *(line[at] for line in lines)) for at, column in enumerate(columns) if at > 1]


def _notes(table: PublishedTable, part: ExperimentPart, cells: Sequence[PlayedCell], fault: str) -> Iterator[str]:
    """Notes on the figures: the rows that are not shown, not played or not as in the paper."""
    if fault:
        yield f"The paper's figures are not shown beside ours: {fault}."
    if table.metric not in METRICS:
        return
    yield from row_notes(table, part)
    yield from (note for one in cells for note in _progress_notes(one))
    yield from (f"Not as in the paper, because codeplan has no setting for it yet: {what}." for what in part.missing)
    for one in cells:
        yield from (f"{one.row.name}: not as in the paper: {what}." for what in one.row.missing)
        yield from (f"{one.row.name}: {caveat}" for caveat in one.row.caveats)
    yield from part.caveats
    if any(one.cell.model == "scripted" for one in cells):
        yield STAND_IN_NOTE


def row_notes(table: PublishedTable, part: ExperimentPart) -> Iterator[str]:
    """Why rows of a table are not played."""
    reasons: Mapping[str, str] = not_run().methods
    yield from (reasons[name] for name in dict.fromkeys(row.method for row in table.rows) if name in reasons)
    yield from (f"{row.name} is not played: {row.cannot}." for row in part.rows if row.cannot)


def _progress_notes(one: PlayedCell) -> Iterator[str]:
    if len(one.episodes) < one.total:
        total = with_count(one.total, "episode")
        yield f"{one.row.name}: {len(one.episodes)} of {total} ended; the others are in no figure."
