"""A bench as a table on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from codeplan.bench.cell_comparison import describe_cells
from codeplan.bench.grid import BenchCell
from codeplan.bench.metrics import KindSummary, summarise_results
from codeplan.bench.papers import PublishedResults, published_results
from codeplan.bench.store import BenchRecord
from codeplan.bench.tables import BenchTable, statistics_table
from codeplan.bench.trainings import build_training_tables
from codeplan.cli.text_tables import format_table, terminal_width
from codeplan.untrusted.console import print_wrapped
from codeplan.untrusted.texts import clean, one_line, shell_word, wrap_line

_GROUPED = (("cell", "kind"), ("row", "whose"))
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
    for suite, cells in _grouped(bench).items():
        if len(cells) > 1:
            _print_side_by_side(console, bench, suite, cells)
        else:
            _print_cell(console, bench, cells[0])
    for table in build_training_tables(bench):
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
    ended = bench.outcomes_of(cell.name)
    rows = summarise_results([e.result for e in ended if not e.broken])
    alone = len(bench.cells) == 1
    title = f"{cell.suite}: {cell.method} with {cell.model}" if alone else cell.name
    head = ("kind", "episodes", "success", "95 %", "actions", "in-plan", "out-of-plan", "calls", *_COSTS, "seconds")
    _print_table(console, title, format_table(head, [_cells(row) for row in rows], width=terminal_width()))
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
    if columns[:2] in _GROUPED:
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


def _cells(row: KindSummary) -> list[str]:
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
