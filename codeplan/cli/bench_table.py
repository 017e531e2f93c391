"""A bench as a table on the terminal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from codeplan.bench.papers.comparable import PublishedResults, published_results
from codeplan.bench.store import BenchCell, BenchRecord
from codeplan.bench.summary import KindSummary, summarise_results
from codeplan.untrusted.terminal import one_line

_WIDEST = 1_000
_COSTS = ("tokens in", "tokens out", "US $")
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
    _print_published(console, published_results(bench))
    if any(cell.model == "scripted" for cell in bench.cells):
        console.print(STAND_IN_NOTE, soft_wrap=True)
    if len(bench.cells) > 1 and folder:
        console.print(f"Intervals, tests and more: codeplan compare {folder}", soft_wrap=True)
    if folder:
        console.print(f"Traces and results: {folder}", soft_wrap=True)


def _print_published(console: Console, published: PublishedResults) -> None:
    """Print the published rates over all kinds of task, and why other figures are not shown."""
    for result in (row for row in published.rows if "all" in row.rates):
        text = f"{result.method} with {result.model} {result.rates['all']:.1f} % ({result.source})"
        console.print(f"Published, not measured here: {text}", soft_wrap=True)
    for reason in published.reasons:
        console.print(reason, soft_wrap=True)


def _print_cell(console: Console, bench: BenchRecord, cell: BenchCell) -> None:
    ended = bench.outcomes_of(cell.name)
    rows = summarise_results([e.result for e in ended if not e.broken])
    alone = len(bench.cells) == 1
    title = f"{cell.suite}: {cell.method} with {cell.model}" if alone else cell.name
    table = Table(title=title, box=box.SIMPLE, title_justify="left", padding=(0, 1, 0, 0))
    table.add_column("kind", no_wrap=True)
    for column in ("episodes", "success", "95 %", "actions", "asks", "refined", "calls", *_COSTS, "seconds"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        if row is rows[-1]:
            table.add_section()
        table.add_row(*_cells(row))
    print_whole(console, table)
    for reason, count in Counter(one_line(e.result.reason) for e in ended).most_common():
        console.print(f"{count:5}  {reason}")
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
    table = Table(title=f"{suite}: success by kind of task", box=box.SIMPLE, title_justify="left")
    table.add_column("method, model, settings", no_wrap=True)
    for column in (*map(one_line, kinds), "actions", "calls", *_COSTS):
        table.add_column(column, justify="right", no_wrap=True)
    for name, of_cell in rows.items():
        rates = {row.kind: f"{row.successes / max(row.episodes, 1):.0%}" for row in of_cell}
        table.add_row(name.removeprefix(f"{suite}."), *(rates.get(kind, "") for kind in kinds), *_means(of_cell))
    print_whole(console, table)
    _print_cached_shares(console, rows)


def _print_cached_shares(console: Console, rows: dict[str, list[KindSummary]]) -> None:
    """Print the cached share of the input for each cell whose endpoints tell of one."""
    for name, of_cell in rows.items():
        if share := of_cell[-1].cached_share:
            console.print(
                f"{share:.0%} of the input tokens of {one_line(name)} came from the endpoint's cache", soft_wrap=True
            )


def print_whole(console: Console, table: Table) -> None:
    """Print a table without cutting its cells. On a narrow terminal its lines are longer than the terminal's."""
    narrow = console.width
    whole = Measurement.get(console, console.options.update(max_width=_WIDEST), table).maximum
    console.width = max(narrow, whole)
    console.print(table)
    console.width = narrow


def _means(rows: list[KindSummary]) -> list[str]:
    """Actions, model calls, tokens and money per episode over all kinds."""
    every = rows[-1]
    n = max(every.episodes, 1)
    return [f"{every.actions / n:.1f}", f"{every.model_calls / n:.1f}", *_costs(every)]


def _costs(row: KindSummary) -> list[str]:
    """Tokens in, tokens out and US dollars per episode; each is empty if unknown."""
    n = max(row.episodes, 1)
    counts = ["" if total is None else f"{total / n:,.0f}" for total in (row.input_tokens, row.output_tokens)]
    return [*counts, "" if row.money is None else f"{row.money / n:.4f}"]


def _cells(row: KindSummary) -> list[str]:
    """A row's cells: the success rate with its interval, and means over its episodes."""
    n = max(row.episodes, 1)
    means = (row.actions, row.asks, row.refinements, row.model_calls)
    return [
        one_line(row.kind),
        str(row.episodes),
        f"{row.successes / n:.0%}",
        f"{100 * row.low:.0f}–{100 * row.high:.0f}",
        *(f"{total / n:.1f}" for total in means),
        *_costs(row),
        f"{row.seconds / n:.2f}",
    ]
