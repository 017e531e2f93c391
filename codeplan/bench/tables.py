"""Tables as Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from codeplan.bench.compare import Comparison, Overview
from codeplan.bench.measures import Figures
from codeplan.bench.papers import Published
from codeplan.statistics import Difference
from codeplan.types import Value

STAND_IN = "scripted stand-in"
MARK = " †"
"""What marks the cells of the scripted stand-in."""

_MEANING = (
    "Means over the episodes. Trajectory: actions since the last reset. In-plan: asks. Out-of-plan: new plans after a "
    "failure. Inadmissible: the share of actions of which the environment says that they did nothing."
)


class Table(Value, frozen=True):
    """A table of text; ``notes`` are sentences below it. The first column is words, the others are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def tables(of: Overview) -> list[Table]:
    """The tables of an overview: figures, comparisons, and apart from them what others have published."""
    found = [_figures(of)] + [_compared(c) for c in of.comparisons]
    return found + ([_published(of.published)] if of.published else [])


def written(found: Sequence[Table], form: str) -> str:
    """The tables in one of ``FORMS``."""
    return "\n".join(FORMS[form](table) for table in found)


def markdown(table: Table) -> str:
    """The table as Markdown."""
    lines = [f"**{table.title}**", "", _line(table.columns), _line(["---", *["---:"] * (len(table.columns) - 1)])]
    lines += [_line([" ".join(cell.split()).replace("|", "\\|") for cell in row]) for row in table.rows]
    return "\n".join([*lines, *(f"\n{note}" for note in table.notes)]) + "\n"


def as_csv(table: Table) -> str:
    """The table as CSV, without title and notes."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
    return text.getvalue()


def latex(table: Table) -> str:
    """The table as LaTeX, for the package booktabs."""
    body = [" & ".join(map(_tex, row)) + r" \\" for row in table.rows]
    head = " & ".join(map(_tex, table.columns)) + r" \\"
    layout = "l" + "r" * (len(table.columns) - 1)
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{layout}}}", r"\toprule", head, r"\midrule", *body]
    caption = " ".join([f"{table.title}.", *table.notes])
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", rf"\caption{{{_tex(caption)}}}", r"\end{table}"]) + "\n"


FORMS: dict[str, Callable[[Table], str]] = {"markdown": markdown, "csv": as_csv, "latex": latex}
"""How a table can be written."""

_COLUMNS = {
    "trajectory": "trajectory",
    "actions": "actions",
    "asks": "in-plan",
    "refinements": "out-of-plan",
    "calls": "calls",
    "tokens": "tokens",
    "money": "US $",
    "seconds": "seconds",
}


def _figures(of: Overview) -> Table:
    told = [f for _, cell in of.figures for f in cell]
    repeated = max((len(f.passes) for f in told), default=0)
    passes = tuple(f"pass@{k}, %" for k in range(1, repeated + 1))
    columns = ("cell", "kind", "episodes", "success, %", "95 %", *_COLUMNS.values(), "inadmissible, %", *passes)
    scripted = {s.label for s in of.sides if s.cell.model == "scripted"}
    marked = {label: label + MARK * (label in scripted) for label, _ in of.figures}
    rows = tuple((marked[label], *_row(f, repeated)) for label, cell in of.figures for f in cell)
    notes = (_MEANING, f"{MARK.strip()} The model is the {STAND_IN}: its rates say nothing about language models.")
    return Table("Figures", columns, rows, notes if scripted else notes[:1])


def _row(f: Figures, repeated: int) -> tuple[str, ...]:
    passes = [_percent(p) for p in f.passes] + [""] * (repeated - len(f.passes))
    interval = f"{100 * f.low:.1f} to {100 * f.high:.1f}"
    means = [number(f.means[name], 4 if name == "money" else 2) for name in _COLUMNS]
    return f.kind, str(f.episodes), _percent(f.rate), interval, *means, _percent(f.inadmissible), *passes


def _compared(c: Comparison) -> Table:
    n = c.pairs
    first, second = (c.both + c.only_first) / n, (c.both + c.only_second) / n
    success = ("success, %", _percent(first), _percent(second), *_change(c.difference, 100, 1))
    means = [
        (_COLUMNS.get(m.name, m.name), number(m.first), number(m.second), *_change(m.difference, 1, 2)) for m in c.means
    ]
    return Table(
        f"{c.first} and {c.second} on {c.suite}, {n} pairs",
        ("", "first", "second", "second less first", "95 %"),
        (success, *means),
        tuple(_verdict(c)),
    )


def _verdict(c: Comparison) -> list[str]:
    more = {None: "No difference is seen, so no number of tasks would show it.", 0: ""}
    needed = more.get(c.more, f"To find a difference as large as this with a power of 80 %, {c.more} more pairs.")
    found = [
        f"Only the first succeeded in {c.only_first}, only the second in {c.only_second}, both in {c.both}, neither in "
        f"{c.neither}. McNemar's exact test: p = {c.p:.3g}. {needed}".strip()
    ]
    return found + ([f"{c.left_out} episodes have no partner and are left out."] if c.left_out else [])


def _published(found: Sequence[Published]) -> Table:
    kinds = list(dict.fromkeys(k for p in found for k in p.rates if k != "all"))
    rows = tuple(
        (f"{p.suite}: {p.method}", p.model, *(number(p.rates.get(k), 2) for k in ("all", *kinds)), p.source)
        for p in found
    )
    note = "Theirs, with their models, prompts and versions of the environments: none was measured with codeplan."
    return Table("Published success rates, %", ("", "model", "all", *kinds, "source"), rows, (note,))


def _change(d: Difference, scale: float, digits: int) -> tuple[str, str]:
    return f"{scale * d.value:+.{digits}f}", f"{scale * d.low:+.{digits}f} to {scale * d.high:+.{digits}f}"


def number(value: float | None, digits: int = 2) -> str:
    """The number with so many digits after the point; empty where it is not known."""
    return "" if value is None else f"{value:.{digits}f}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


_TEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "†": r"\dag{}",
}


def _tex(text: str) -> str:
    return "".join(_TEX.get(c, c) for c in text)
