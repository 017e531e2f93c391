"""Tables in Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence

import msgspec

from codeplan.bench.cell_comparison import BenchOverview, CellComparison
from codeplan.bench.metrics import METRICS, CellStatistics, MetricEstimate
from codeplan.bench.papers import PublishedResults
from codeplan.statistics import RateDifference
from codeplan.types import Value
from codeplan.untrusted.texts import with_count

STAND_IN_LABEL = "scripted stand-in"
STAND_IN_MARK = " †"
"""Marks cells of the scripted stand-in."""

STAND_IN_NOTE = (
    f"{STAND_IN_MARK.strip()} The model is the {STAND_IN_LABEL}: its rates say nothing about language models."
)
"""Stands below each table with such a mark."""

_COLUMN_NOTE = (
    "Means over the episodes. Trajectory: actions since the last reset. In-plan: asks. Out-of-plan: new plans after a "
    "failure. Inadmissible: the share of actions without effect."
)

_CLAIM_NOTE = "Claim: the episodes that the method itself believes solved, whatever the environment says."

_ATTEMPT_NOTE = (
    "The share of the episodes solved by this attempt at the latest. Attempts are trials (Reflexion, Try-Again) and "
    "new plans after a failure."
)


class BenchTable(Value, frozen=True):
    """A table of text, with notes below. The first column is text, the others are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def build_tables(overview: BenchOverview) -> list[BenchTable]:
    """Return the tables of an overview: statistics, success by attempt, comparisons and, separately, published results.

    Success by attempt is left out if no episode had a second one. Without a published result, the first table's notes
    say why.
    """
    figures, published = statistics_table(overview), overview.published
    if not published.rows:
        figures = msgspec.structs.replace(figures, notes=(*figures.notes, *published.reasons))
    found = [figures, *_attempt_tables(overview), *map(_comparison_table, overview.comparisons)]
    return found + ([_published_table(published)] if published.rows else [])


def format_tables(tables: Sequence[BenchTable], format_name: str) -> str:
    """Return the tables in one of ``TABLE_FORMATS``."""
    return "\n".join(TABLE_FORMATS[format_name](table) for table in tables)


def format_markdown(table: BenchTable) -> str:
    """Return the table as Markdown."""
    lines = [
        f"**{table.title}**",
        "",
        _markdown_row(table.columns),
        _markdown_row(["---", *["---:"] * (len(table.columns) - 1)]),
    ]
    lines += [_markdown_row([" ".join(cell.split()).replace("|", "\\|") for cell in row]) for row in table.rows]
    return "\n".join([*lines, *(f"\n{note}" for note in table.notes)]) + "\n"


def format_csv(table: BenchTable) -> str:
    """Return the table as CSV, without title and notes."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
    return text.getvalue()


def format_latex(table: BenchTable) -> str:
    """Return the table as LaTeX, for the package booktabs."""
    body = [" & ".join(map(_escape_latex, row)) + r" \\" for row in table.rows]
    head = " & ".join(map(_escape_latex, table.columns)) + r" \\"
    layout = "l" + "r" * (len(table.columns) - 1)
    caption = _escape_latex(" ".join([f"{table.title}.", *table.notes]))
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{layout}}}", r"\toprule", head, r"\midrule", *body]
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", r"\end{table}", ""]
    return "\n".join(lines)


TABLE_FORMATS: dict[str, Callable[[BenchTable], str]] = {
    "markdown": format_markdown,
    "csv": format_csv,
    "latex": format_latex,
}
"""The formats by name."""


MAX_ATTEMPTS = 10
"""More attempts than these have no column."""


def _attempt_tables(of: BenchOverview) -> list[BenchTable]:
    """The share of each cell's episodes solved within 1, 2, … attempts; none if each episode had one."""
    rates = [(label, cell[-1].by_attempt) for label, cell in of.statistics]
    last = min(max((len(shares) for _, shares in rates), default=0), MAX_ATTEMPTS)
    if last < 2:
        return []
    scripted = _scripted_labels(of)
    rows = tuple(
        (_marked(label, scripted), *(_format_percent(shares[min(k, len(shares)) - 1]) for k in range(1, last + 1)))
        for label, shares in rates
        if shares
    )
    columns = ("cell", *(f"attempt {k}" for k in range(1, last + 1)))
    notes = (_ATTEMPT_NOTE, STAND_IN_NOTE) if scripted else (_ATTEMPT_NOTE,)
    return [BenchTable("Success after each attempt, %", columns, rows, notes)]


def _scripted_labels(of: BenchOverview) -> set[str]:
    return {s.label for s in of.cells if s.cell.model == "scripted"}


def _marked(label: str, scripted: set[str]) -> str:
    return label + STAND_IN_MARK * (label in scripted)


def statistics_table(of: BenchOverview) -> BenchTable:
    """Return the metrics of each cell by kind of task. Rates have their intervals, others where they were asked for."""
    rows_of_all = [f for _, cell in of.statistics for f in cell]
    repeated = max((len(f.pass_at_k) for f in rows_of_all), default=0)
    passes = tuple(f"pass@{k}, %" for k in range(1, repeated + 1))
    heads = [head for name in of.metrics for head in _heads(name, of)]
    columns = ("cell", "kind", "episodes", *heads, "inadmissible, %", *passes)
    scripted = _scripted_labels(of)
    rows = tuple((_marked(label, scripted), *_row(f, repeated, of)) for label, cell in of.statistics for f in cell)
    legend = f"{_COLUMN_NOTE} {_CLAIM_NOTE}" if "claim" in of.metrics else _COLUMN_NOTE
    notes = (legend, STAND_IN_NOTE) if scripted else (legend,)
    return BenchTable("Statistics", columns, rows, (*notes, *_left_out_notes(of)))


def _left_out_notes(of: BenchOverview) -> Iterator[str]:
    """What the tables do not show."""
    broken = [sum(e.broken for e in side.bench.outcomes_of(side.cell.name)) for side in of.cells]
    if sum(broken):
        cells = with_count(sum(map(bool, broken)), "cell")
        yield (
            f"Left out: {with_count(sum(broken), 'episode')} of {cells} that broke off without a result; the same "
            "bench, started again, runs them again."
        )
    yield from (f"Not compared: {why}." for why in of.not_compared)
    if of.cells_left_out:
        yield f"Left out: {with_count(of.cells_left_out, 'further cell')}; to compare one, name it: FOLDER:CELL."
    if of.kinds_left_out:
        yield f"Left out: {with_count(of.kinds_left_out, 'row')} of single kinds of task; the rows of all count them."


def _heads(name: str, of: BenchOverview) -> tuple[str, ...]:
    has_interval = name == "success" or (of.with_intervals and METRICS[name].per is None)
    return (METRICS[name].title, "95 %") if has_interval else (METRICS[name].title,)


def _row(f: CellStatistics, repeated: int, of: BenchOverview) -> tuple[str, ...]:
    passes = [_format_percent(p) for p in f.pass_at_k] + [""] * (repeated - len(f.pass_at_k))
    figures = [
        text
        for name, found in f.metrics.items()
        for text in _figures(found, METRICS[name].digits)[: len(_heads(name, of))]
    ]
    return f.kind, str(f.episodes), *figures, _format_percent(f.inadmissible), *passes


def _figures(found: MetricEstimate, digits: int) -> tuple[str, str]:
    """The value and its interval; each is empty if unknown."""
    known = found.low is not None and found.high is not None
    return format_number(found.value, digits), f"{found.low:.{digits}f} to {found.high:.{digits}f}" if known else ""


def _comparison_table(c: CellComparison) -> BenchTable:
    n = c.pairs
    first, second = (c.both + c.only_first) / n, (c.both + c.only_second) / n
    success = ("success, %", _format_percent(first), _format_percent(second), *_format_difference(c.difference, 100, 1))
    means = [
        (
            METRICS[m.name].title,
            format_number(m.first, METRICS[m.name].digits),
            format_number(m.second, METRICS[m.name].digits),
            *_format_difference(m.difference, 1, METRICS[m.name].digits),
        )
        for m in c.means
    ]
    return BenchTable(
        f"{c.first} and {c.second} on {c.suite}, {with_count(n, 'pair')}",
        ("", "first", "second", "second minus first", "95 %"),
        (success, *means),
        tuple(_comparison_notes(c)),
    )


def _comparison_notes(c: CellComparison) -> list[str]:
    needed = ""
    if c.more_pairs is None:
        needed = "There is no difference that more tasks could show."
    elif c.more_pairs:
        pairs = with_count(c.more_pairs, "more pair")
        needed = f"To find a difference as large as this with a power of 80 %, {pairs}."
    test = "McNemar's exact test" if c.tasks == c.pairs else f"Exact test of signs over {with_count(c.tasks, 'task')}"
    found = [
        f"Only the first succeeded in {c.only_first}, only the second in {c.only_second}, both in {c.both}, neither in "
        f"{c.neither}. {test}: p = {c.p_value:.3g}. {needed}".strip()
    ]
    return found + ([f"Left out: {with_count(c.left_out, 'episode')} without a partner."] if c.left_out else [])


def _published_table(published: PublishedResults) -> BenchTable:
    found = published.rows
    kinds = list(dict.fromkeys(k for p in found for k in p.rates if k != "all"))
    rows = tuple(
        (f"{p.suite}: {p.method}", p.model, *(format_number(p.rates.get(k), 2) for k in ("all", *kinds)), p.source)
        for p in found
    )
    note = "Published by others, with their models, prompts and environments; none was measured with codeplan."
    return BenchTable(
        "Published success rates, %", ("", "model", "all", *kinds, "source"), rows, (note, *published.reasons)
    )


def _format_difference(d: RateDifference, scale: float, digits: int) -> tuple[str, str]:
    return f"{scale * d.value:+.{digits}f}", f"{scale * d.low:+.{digits}f} to {scale * d.high:+.{digits}f}"


def format_number(value: float | None, digits: int = 2) -> str:
    """Return the number with this many digits after the point; empty if unknown."""
    return "" if value is None else f"{value:.{digits}f}"


def _format_percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


_LATEX_ESCAPES = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "†": r"\dag{}",
}


def _escape_latex(text: str) -> str:
    return "".join(_LATEX_ESCAPES.get(c, c) for c in text)
