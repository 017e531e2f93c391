"""Tables as lines of text: of any rows, of benches, of papers' experiments.

A table that is too wide for the terminal is narrowed, then split. No figure is ever cut. Columns are plain, because a
library of skills may have ten thousand rows.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from codeplan.untrusted.console import print_wrapped
from codeplan.untrusted.texts import clean, one_line, shell_word, terminal_columns, with_count, wrap_line
from codeplan.untrusted.values import in_quotes

if TYPE_CHECKING:
    from codeplan.bench.grid import BenchCell
    from codeplan.bench.metrics import KindSummary
    from codeplan.bench.papers import ExperimentPart, PaperExperiment, PublishedResults, PublishedTable
    from codeplan.bench.store import BenchRecord
    from codeplan.bench.tables import BenchTable

Row = Sequence[str]

_MIN_TEXT = 20
"""A column of text is not made narrower than this, in characters."""

_PARTS = re.compile(r"[^ /.,_=-]*[ /.,_=-]?")
_WORDS = re.compile(r" (?=\w)")
_FIGURE = re.compile(r"[-+<–—]? ?[$\d].*|[-–]?", re.DOTALL)


def terminal_width() -> int | None:
    """The columns of the terminal on standard output; None if it is no terminal."""
    return terminal_columns(sys.stdout)


def format_table(head: Row, rows: Sequence[Row], *, width: int | None = None, groups: Sequence[str] = ()) -> list[str]:
    """The rows under their head, in columns; columns of figures are right-aligned.

    ``width`` is the terminal's, None for no limit. A wider table gets narrower gaps, then folded heads, then folded
    texts. If that is not enough, more columns follow in tables below, which begin with the first column.
    ``groups`` names each row's group: a line of its own above the group's first row.
    """
    columns = [list(column) for column in zip(head, *rows, strict=True)]
    figures = [at > 0 and all(map(_FIGURE.fullmatch, column[1:])) for at, column in enumerate(columns)]
    widths = [max(map(cell_len, column)) for column in columns]
    if width is None or _total(widths, 2) <= width:
        return _lines(columns, widths, figures, 2, groups)
    if _total(widths, 1) <= width:
        return _lines(columns, widths, figures, 1, groups)
    widths = [
        max(map(cell_len, [*column[1:], *_WORDS.split(column[0])])) if is_figure else whole
        for column, is_figure, whole in zip(columns, figures, widths, strict=True)
    ]
    narrow = _fold_texts(widths, figures, width)
    if _total(narrow, 1) <= width:
        return _lines(columns, narrow, figures, 1, groups)
    narrow = _capped(widths, width)
    lines: list[str] = []
    for chosen in _panels(narrow, width):
        lines += [""] if lines else []
        lines += _lines(
            [columns[at] for at in chosen], [narrow[at] for at in chosen], [figures[at] for at in chosen], 1, groups
        )
    return lines


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _fold_texts(widths: Sequence[int], figures: Sequence[bool], width: int) -> list[int]:
    """The widths after the widest columns of text gave up what is too much, as far as they can."""
    found = list(widths)
    texts = [at for at, is_figure in enumerate(figures) if not is_figure]
    while _total(found, 1) > width:
        widest = max(texts, key=found.__getitem__, default=None)
        if widest is None or found[widest] <= _MIN_TEXT:
            return found
        found[widest] -= 1
    return found


def _capped(widths: Sequence[int], width: int) -> list[int]:
    """Widths with which the first column and any one other fit."""
    first = min(widths[0], max(2 * width // 5, 8))
    room = max(width - first - 1, 8)
    return [first, *(min(w, room) for w in widths[1:])]


def _panels(widths: Sequence[int], width: int) -> list[list[int]]:
    """The columns of each table: the first and as many others as fit, spread evenly over the tables."""
    filled = _filled(widths, width, len(widths))
    even = _filled(widths, width, -(-(len(widths) - 1) // len(filled)))
    return even if len(even) == len(filled) else filled


def _filled(widths: Sequence[int], width: int, most: int) -> list[list[int]]:
    """The columns of each table, with at most ``most`` beside the first."""
    panels = [[0]]
    for at in range(1, len(widths)):
        others = len(panels[-1]) - 1
        if others >= most or (others and _total([widths[i] for i in [*panels[-1], at]], 1) > width):
            panels.append([0])
        panels[-1].append(at)
    return panels


def _lines(
    columns: Sequence[Row], widths: Sequence[int], figures: Sequence[bool], gap: int, groups: Sequence[str]
) -> list[str]:
    head, *rows = zip(*columns, strict=True)
    lines = [*_row_lines(head, widths, figures, gap), "─" * _total(widths, gap)]
    before = ""
    for group, row in zip(groups or [""] * len(rows), rows, strict=True):
        lines += [group] if group != before else []
        lines += _row_lines(row, widths, figures, gap)
        before = group
    return lines


def _row_lines(row: Row, widths: Sequence[int], figures: Sequence[bool], gap: int) -> list[str]:
    """The lines of a row: several if a cell is folded."""
    folded = [_fold(cell, width) for cell, width in zip(row, widths, strict=True)]
    parts = zip_longest(*folded, fillvalue="")
    return [(" " * gap).join(map(_aligned, cells, widths, figures)).rstrip() for cells in parts]


def _aligned(text: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if right else text + space


def _fold(text: str, width: int) -> list[str]:
    """The text in lines of at most ``width`` columns, broken after a space or a sign where possible.

    Each line keeps the text's indent.
    """
    if cell_len(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip(" "))][: width // 2]
    room, lines = width - len(indent), [indent]
    for part in _PARTS.findall(text.lstrip(" ")):
        for piece in chop_cells(part, room) if cell_len(part) > room else [part]:
            if cell_len(lines[-1] + piece.rstrip()) > width:
                lines.append(indent)
            lines[-1] += piece
    return [line.rstrip() for line in lines]


_GROUPED_COLUMNS = (("cell", "kind"), ("row", "whose"))
"""First columns of tables whose rows are grouped. A cell's name would take half of the terminal in each row; and where
columns follow below, a paper's row is known by whose it is."""

_COSTS = ("tokens in", "tokens out", "US $")
NONE_ENDED = "-"
"""Stands for the figures of episodes of which none ended."""

STAND_IN_NOTE = "The model is the scripted stand-in: these success rates say nothing about language models."


def print_bench(console: Console, bench: BenchRecord, folder: Path | None) -> None:
    """Print a table for each suite, with notes on its figures.

    The table of a single cell has a row for each kind of task; the reasons why episodes ended follow. Several
    cells share a table with a row each.
    """
    from codeplan.bench.agentdojo import rates_tables
    from codeplan.bench.papers import published_results
    from codeplan.bench.trainings import build_training_tables

    for suite, cells in _grouped(bench).items():
        if len(cells) > 1:
            _print_side_by_side(console, bench, suite, cells)
        else:
            _print_cell(console, bench, cells[0])
    for table in (*build_training_tables(bench), *rates_tables(bench)):
        console.print(f"{bench_table_text(table, terminal_width())}\n", soft_wrap=True)
    _print_published(console, published_results(bench))
    if any(cell.model == "scripted" for cell in bench.cells):
        _print_note(console, STAND_IN_NOTE)
    if len(bench.cells) > 1 and folder:
        _print_note(console, f"Intervals, tests and more: codeplan compare {shell_word(folder)}")
    if folder:
        _print_note(console, f"Traces and results: {folder}")


def print_metrics(console: Console, bench: BenchRecord, metrics: Sequence[str], folder: Path | None) -> None:
    """Print the chosen metrics of each cell by kind of task, with their intervals."""
    from codeplan.bench.cell_comparison import describe_cells
    from codeplan.bench.tables import statistics_table

    table = statistics_table(describe_cells(bench, metrics))
    console.print(f"{bench_table_text(table, terminal_width())}\n", soft_wrap=True)
    if folder:
        _print_note(console, f"Traces and results: {folder}")


def _print_published(console: Console, published: PublishedResults) -> None:
    """Print the published rates over all kinds of task, and why other figures are not shown."""
    for result in (row for row in published.rows if "all" in row.rates):
        text = f"{result.method} with {result.model} {result.rates['all']:.1f} % ({result.source})"
        _print_note(console, f"Published, not measured here: {text}")
    for reason in published.reasons:
        _print_note(console, reason)


def _print_cell(console: Console, bench: BenchRecord, cell: BenchCell) -> None:
    from codeplan.bench.metrics import summarise_results

    ended = bench.outcomes_of(cell.name)
    rows = summarise_results([e.result for e in ended if not e.broken])
    alone = len(bench.cells) == 1
    title = f"{cell.suite}: {cell.method} with {cell.model}" if alone else cell.name
    head = ("kind", "episodes", "success", "95 %", "actions", "in-plan", "out-of-plan", "calls", *_COSTS, "seconds")
    _print_table(console, title, format_table(head, [_row_cells(row) for row in rows], width=terminal_width()))
    for reason, count in Counter(one_line(e.result.reason) for e in ended).most_common():
        mark = f"{count:5}  "
        print_wrapped(console, Text(mark + reason), len(mark))
    _print_cached_shares(console, {cell.name: rows})
    console.print()


def _grouped(bench: BenchRecord) -> dict[str, list[BenchCell]]:
    """The cells by suite."""
    by_suite: dict[str, list[BenchCell]] = {}
    for cell in bench.cells:
        by_suite.setdefault(cell.suite, []).append(cell)
    return by_suite


def _print_side_by_side(console: Console, bench: BenchRecord, suite: str, cells: list[BenchCell]) -> None:
    """Print each cell's success rates by kind of task, and its means over all episodes."""
    from codeplan.bench.metrics import summarise_results

    rows = {c.name: summarise_results([e.result for e in bench.outcomes_of(c.name) if not e.broken]) for c in cells}
    kinds = list(dict.fromkeys(row.kind for of_cell in rows.values() for row in of_cell))
    head = ("method, model, settings", *map(one_line, kinds), "actions", "calls", *_COSTS)
    lines = []
    for name, of_cell in rows.items():
        rates = {row.kind: _rate(row) for row in of_cell}
        label = one_line(name.removeprefix(f"{suite}."))
        lines.append([label, *(rates.get(kind, "") for kind in kinds), *_means(of_cell)])
    table = format_table(head, lines, width=terminal_width())
    _print_table(console, f"{suite}: success by kind of task, and means over the episodes", table)
    _print_cached_shares(console, rows)


def _print_cached_shares(console: Console, rows: dict[str, list[KindSummary]]) -> None:
    """Print what the user's own cache answered, and the cached share of the input where an endpoint tells of one."""
    for name, of_cell in rows.items():
        if reused := of_cell[-1].reused_replies:
            calls = f"{reused:,} of {of_cell[-1].model_calls:,} model calls of {one_line(name)}"
            _print_note(console, f"{calls} were answered by the cache of replies, at no cost")
        if share := of_cell[-1].cached_share:
            _print_note(console, f"{share:.0%} of the input tokens of {one_line(name)} came from the endpoint's cache")


def _print_note(console: Console, text: str) -> None:
    print_wrapped(console, Text(clean(text)))


def bench_table_text(table: BenchTable, width: int | None) -> str:
    """A table as plain columns within the terminal's width, its title above and its notes below."""
    columns, rows = table.columns, [[one_line(cell) for cell in row] for row in table.rows]
    groups: list[str] = []
    if columns[:2] in _GROUPED_COLUMNS:
        groups = [row[0] for row in rows]
        columns, rows = columns[1:], [[f"  {kind}", *figures] for _, kind, *figures in rows]
    lines = format_table(columns, rows, width=width, groups=groups)
    notes = [line for note in table.notes for line in ("", *wrap_line(note, width))]
    return "\n".join([*wrap_line(one_line(table.title), width), "", *lines, *notes])


def _print_table(console: Console, title: str, lines: list[str]) -> None:
    console.print("\n".join([*wrap_line(one_line(title), terminal_width()), "", *lines, ""]), soft_wrap=True)


def _means(rows: list[KindSummary]) -> list[str]:
    """Actions, model calls, tokens and money per episode over all kinds."""
    every = rows[-1]
    return [_mean(every, every.actions), _mean(every, every.model_calls), *_costs(every)]


def _costs(row: KindSummary) -> list[str]:
    """Tokens in, tokens out and US dollars per episode; each is empty if unknown."""
    return [_mean(row, row.input_tokens, 0), _mean(row, row.output_tokens, 0), _mean(row, row.money, 4)]


def _row_cells(row: KindSummary) -> list[str]:
    """A row's cells: the success rate with its interval, and means over its episodes."""
    interval = f"{100 * row.low:.0f}–{100 * row.high:.0f}" if row.episodes else NONE_ENDED
    means = (_mean(row, total) for total in (row.actions, row.asks, row.refinements, row.model_calls))
    seconds = _mean(row, row.seconds, 2)
    return [one_line(row.kind), str(row.episodes), _rate(row), interval, *means, *_costs(row), seconds]


def _rate(row: KindSummary) -> str:
    return f"{row.successes / row.episodes:.0%}" if row.episodes else NONE_ENDED


def _mean(row: KindSummary, total: float | None, digits: int = 1) -> str:
    """The total per episode; empty if the total is unknown."""
    if not row.episodes:
        return NONE_ENDED
    return "" if total is None else f"{total / row.episodes:,.{digits}f}"


_WIDTH = 80
"""The columns of lists that are written to no terminal."""


def list_experiments(experiments: Sequence[PaperExperiment]) -> Iterator[str]:
    """The lines of the list: a paper's title, then its experiments, as wide as the terminal."""
    from codeplan.bench.papers import paper_titles

    paper = ""
    for experiment in experiments:
        if experiment.published[0].paper != paper:
            paper = experiment.published[0].paper
            yield from textwrap.wrap(paper_titles()[paper], _width())
        environments = dict.fromkeys(f"{t.environment} {t.tasks}" for t in experiment.published)
        yield from _wrapped_lines(f"  {experiment.id:24} ", f"{', '.join(environments)}: {experiment.title}")
        yield from _wrapped_lines(" " * 27, state_of(experiment))
    yield "Play one with: codeplan bench paper:ID --model NAME"


def state_of(experiment: PaperExperiment) -> str:
    """Whether an experiment can be played here, and what it needs."""
    if experiment.cannot:
        return f"not played: {experiment.cannot}"
    needs = dict.fromkeys(part.data for part in experiment.parts if part.data)
    rows = [row for part in experiment.parts for row in part.rows]
    cells, idle = sum(row.cells for row in rows), sum(row.cells for row in rows if row.cannot)
    trainings = sum(row.trainings for row in rows)
    return "; ".join(
        [f"played: {cells - idle} of {with_count(cells, 'cell')}" if idle else f"played: {with_count(cells, 'cell')}"]
        + ([f"first {with_count(trainings, 'training')}"] if trainings else [])
        + [f"needs {need}" for need in needs]
    )


def describe_experiment(experiment: PaperExperiment) -> Iterator[str]:
    """The lines about one experiment: its cells with their settings, the published figures, the caveats."""
    from codeplan.bench.papers import paper_titles

    yield from _wrapped_lines("", f"{experiment.id}: {experiment.title}")
    yield from textwrap.wrap(paper_titles()[experiment.published[0].paper], _width())
    yield from _wrapped_lines("", state_of(experiment))
    for part in experiment.parts:
        yield from ("", *_describe_part(part))
    for table in experiment.published:
        yield from ("", *_describe_published(table))
    yield from _bullets("Caveats", experiment.caveats)
    if not experiment.cannot:
        yield from ("", f"Play it with: codeplan bench paper:{experiment.id} --model NAME")


def _describe_part(part: ExperimentPart) -> Iterator[str]:
    from codeplan.bench.paper_bench import row_notes

    selection = {"split": part.split, "kind": part.kind, "at most of each kind": part.n}
    chosen = [f"{what} {value}" for what, value in selection.items() if value is not None]
    yield f"Suite {', '.join([part.suite, *chosen])}"
    budget = {f: value for f in part.budget.__struct_fields__ if (value := getattr(part.budget, f)) is not None}
    tables = {"all cells": part.settings, "the model": part.model_settings, "budget of an episode": budget}
    for what, settings in tables.items():
        if settings:
            yield from _wrapped_lines(f"  {what}: ", setting_list(settings))
    for row in part.rows:
        said = f"not played: {row.cannot}" if row.cannot else f"{row.method} {setting_list(row.settings)}".strip()
        second = {"executor": " (executor: --executor-model)", "all": " (model: --executor-model)"}
        yield from _wrapped_lines(f"  {row.name:24} ", said + second.get(row.second_model, ""))
        if row.learn:
            learn = msgspec.json.decode(msgspec.json.encode(row.learn))
            yield from _wrapped_lines(" " * 27, f"trained first: {setting_list(learn)}")
        yield from (line for what in row.missing for line in _wrapped_lines(" " * 27, f"no setting yet: {what}"))
        yield from (line for caveat in row.caveats for line in _wrapped_lines(" " * 27, caveat))
    yield from _bullets("No setting yet", part.missing)
    yield from _bullets("Caveats", part.caveats)
    left_out = dict.fromkeys(note for table in part.published for note in row_notes(table, part))
    yield from _bullets("Rows that are not played", [note for note in left_out if "is not played" not in note])


def _describe_published(table: PublishedTable) -> Iterator[str]:
    from codeplan.bench.papers import not_run
    from codeplan.bench.tables import format_number

    yield from _wrapped_lines(
        "", f"{table.cited}: {table.title}. {table.metric} in {table.unit}, {with_count(table.tasks, 'task')}"
    )
    if reason := not_run().metrics.get(table.metric):
        yield from _wrapped_lines("  ", f"not measured: {reason}")
    for row in table.rows:
        overall = format_number(row.overall if row.overall is not None else row.overall_computed)
        kinds = ", ".join(f"{kind} {value:g}" for kind, value in row.kinds.items())
        yield from _wrapped_lines(f"  {overall:>8}  ", f"{row.name} with {row.model}{': ' if kinds else ''}{kinds}")
        yield from (line for note in [row.note] if note for line in _wrapped_lines(" " * 12, note))
    yield from _bullets("Notes", table.notes)


def setting_list(settings: dict[str, Any]) -> str:
    """Settings as NAME=VALUE, with a nested table in brackets."""
    return ", ".join(
        f"{name}=({setting_list(value)})" if isinstance(value, dict) else f"{name}={_plain(value)}"
        for name, value in settings.items()
    )


def _plain(value: object) -> str:
    return value if isinstance(value, str) else in_quotes(value)


def _bullets(title: str, sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield f"{title}:"
        yield from (line for sentence in sentences for line in _wrapped_lines("- ", sentence, "  "))


def _wrapped_lines(first: str, text: str, indent: str | None = None) -> list[str]:
    further = " " * len(first) if indent is None else indent
    return textwrap.wrap(text, _width(), initial_indent=first, subsequent_indent=further, break_on_hyphens=False)


def _width() -> int:
    return max(terminal_width() or _WIDTH, 40)


def print_experiment(console: Console, experiment: PaperExperiment, bench: BenchRecord, folder: Path | None) -> None:
    """Print the experiment's tables: the published rows, and below each what the bench measured."""
    from codeplan.bench.paper_bench import build_paper_tables

    for table in build_paper_tables(experiment, bench):
        console.print(f"{bench_table_text(table, terminal_width())}\n", soft_wrap=True)
    if folder:
        print_wrapped(console, Text(one_line(f"Statistics and tests: codeplan compare {shell_word(folder)}", 1000)))
        print_wrapped(console, Text(one_line(f"Traces and results: {folder}", 1000)))
