"""A paper's experiment as a bench, and its results as tables.

Each row of a preset is a cell, in the paper's order. The tables have the published rows and, below each, what a bench
measured. A published figure is shown only if the bench has its data, split, number of tasks and metric; otherwise a
note says why not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from codeplan.bench.bench_spec import BenchSpec, ResolvedBench, merge_benches, resolve_bench, resolve_suite
from codeplan.bench.grid import BenchCell, TrainingGrid
from codeplan.bench.metrics import METRICS, MeasuredEpisode, Metric, estimate_metric, measure_cell
from codeplan.bench.papers import (
    ExperimentPart,
    ExperimentRow,
    PaperExperiment,
    PublishedRow,
    PublishedTable,
    mismatch,
    not_run,
)
from codeplan.bench.store import BenchRecord
from codeplan.bench.tables import STAND_IN_MARK, STAND_IN_NOTE, BenchTable, format_number
from codeplan.bench.trainings import TEST_NOTE, TrainingRates, collect_rates, format_p, rates_table
from codeplan.envs.miniwob.tasks import FEEDBACK_TASKS
from codeplan.errors import UsageError
from codeplan.plugins import load_factory, setting_names
from codeplan.runner import models
from codeplan.types import Value
from codeplan.untrusted.texts import with_count

PAPER_PREFIX = "paper:"
"""The prefix of an experiment's id, where ``bench`` takes a suite."""

MAX_COLUMNS = 12
"""A table with more kinds of task has a row for each kind."""

P_VALUE = "p_value"
"""The metric of a table that compares trainings."""

_GROUPS = {"feedback": True, "no_feedback": False}
"""Groups of MiniWoB++'s pages, and whether they are those with feedback."""


class ExperimentChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What the user decides about an experiment's bench.

    ``settings`` go to each cell whose environment, method or model accepts them, and override the preset's. ``n``,
    ``kind`` and ``trainings`` replace the preset's; None keeps these. ``second_model`` plays the rows of a second
    model; None leaves these rows out.
    """

    model: str
    second_model: str | None = None
    settings: Mapping[str, Any] = {}
    kind: str | None = None
    n: int | None = None
    trainings: int | None = None
    repeats: int = 1


def resolve_experiment(
    experiment: PaperExperiment,
    choice: ExperimentChoice,
    model_settings: Callable[[str], dict[str, Any]] = lambda model: {},
    *,
    offline: bool = False,
) -> ResolvedBench:
    """The bench of an experiment. ``model_settings`` and ``offline`` are as in ``resolve_bench``.

    Raises: UsageError: nothing of the experiment can be played, data is missing, or no cell takes a setting.
    """
    if experiment.cannot:
        raise UsageError(f"{experiment.id} cannot be played: {experiment.cannot}")
    played = [
        (part, row)
        for part in experiment.parts
        for row in part.rows
        if not row.cannot and (choice.second_model or not row.second_model)
    ]
    if not played:
        raise UsageError(f"{experiment.id} has no row that can be played; see: codeplan papers {experiment.id}")
    if choice.trainings and not any(row.learn for _, row in played):
        raise UsageError(f"no row of {experiment.id} is trained; omit --trainings")
    accepted = {name for part, row in played for name in _accepted_settings(part, row, choice)}
    for name in choice.settings:
        if name not in accepted:
            raise UsageError(
                f"no row of {experiment.id} takes the setting {name}; see: codeplan papers {experiment.id}"
            )
    specs = (_row_spec(part, row, choice) for part, row in played)
    return merge_benches([resolve_bench(spec, model_settings, offline=offline) for spec in specs])


def _accepted_settings(part: ExperimentPart, row: ExperimentRow, choice: ExperimentChoice) -> set[str]:
    """The settings that the row's environment, method or model takes."""
    env = resolve_suite(part.suite).env
    factories = (load_factory("codeplan.envs", env), load_factory("codeplan.methods", row.method))
    return {*models.setting_names(_main_model(row, choice)), *(name for f in factories for name in setting_names(f))}


def _main_model(row: ExperimentRow, choice: ExperimentChoice) -> str:
    return choice.second_model if row.second_model == "all" and choice.second_model else choice.model


def _row_spec(part: ExperimentPart, row: ExperimentRow, choice: ExperimentChoice) -> BenchSpec:
    """A bench of one cell. The user's settings override the row's, and these override the part's."""
    model = _main_model(row, choice)
    accepted = _accepted_settings(part, row, choice)
    given = {name: value for name, value in choice.settings.items() if name in accepted}
    own = {name: value for name, value in part.model_settings.items() if name in models.setting_names(model)}
    if row.second_model == "executor":
        own |= {"executor_model": choice.second_model}
    settings = {**part.settings, **row.settings, **given}
    return BenchSpec(
        suites=(part.suite,),
        methods=({"name": row.method, "label": row.name, **settings},),
        models=({"name": model, "label": model, **own},),
        split=part.split,
        kind=choice.kind or part.kind,
        n=choice.n or part.n,
        repeats=choice.repeats,
        budget=part.budget,
        learn=_training_grid(row.learn, model, choice) if row.learn else None,
    )


def _training_grid(grid: TrainingGrid, model: str, choice: ExperimentChoice) -> TrainingGrid:
    """The grid with the chosen number of trainings, and with the settings that the model accepts and the user has not
    set.
    """
    taken = {*models.setting_names(model)} - {*choice.settings}
    settings = {name: value for name, value in grid.settings.items() if name in taken}
    return replace(grid, settings=settings, trainings=choice.trainings or grid.trainings)


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
