"""Coverage as HTML pages: an overview, and each plan line by line. No scripts, no external resources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from codeplan.testing.cases.coverage import PlanCoverage, coverage_percent
from codeplan.untrusted.files import write_atomically
from codeplan.untrusted.terminal import clean

_STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem; text-align: right; } td:first-child, th:first-child
{ text-align: left; } pre { margin: 0; } .line { display: block; padding: 0 .5rem; border-left: .3rem solid #fff0; }
.ran { border-color: #2e8b57; } .missed { border-color: #b22222; background: #fdecec; }
.partly { border-color: #c77700; background: #fff6e0; } .no { color: #767676; user-select: none; }
.note { color: #9a5b00; }
"""


def write_pages(folder: Path, coverages: Iterable[PlanCoverage]) -> Path:
    """Write ``index.html`` and a page for each plan to a folder, and return the index.

    It creates the folder if necessary. Raises OSError.
    """
    listed = list(coverages)
    folder.mkdir(parents=True, exist_ok=True)
    for c, name in zip(listed, _file_names(listed), strict=True):
        write_atomically(folder / name, _page(c.label, _plan(c)))
    index = folder / "index.html"
    write_atomically(index, _page("Coverage of plans", _index(listed)))
    return index


def _file_names(coverages: list[PlanCoverage]) -> list[str]:
    """Return a file name for each plan, none of them ``index.html``."""
    return [f"{i}-{re.sub(r'[^A-Za-z0-9._-]', '-', c.label)[:80]}.html" for i, c in enumerate(coverages, 1)]


def _page(title: str, body: Iterable[str]) -> str:
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    shown = f"<h1>{escape(title)}</h1>{''.join(body)}"
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{shown}</body></html>\n'


def _index(coverages: list[PlanCoverage]) -> Iterator[str]:
    yield "<table><tr><th>Plan<th>Steps<th>Lines<th>Branches<th>Cover</tr>"
    for c, name in zip(coverages, _file_names(coverages), strict=True):
        counts = "".join(f"<td>{done}/{total}" for done, total in (c.steps, c.lines, c.branches))
        yield f'<tr><td><a href="{name}">{escape(c.label)}</a>{counts}<td>{coverage_percent([c]):.0f} %</tr>'
    yield f"<tr><td>all<td><td><td><td>{coverage_percent(coverages):.0f} %</tr></table>"


def _plan(coverage: PlanCoverage) -> Iterator[str]:
    yield '<p><a href="index.html">All plans</a></p><pre>'
    heads = dict(coverage.runnable.statements)
    missed = {line for first in coverage.missed_lines for line in range(first, heads[first] + 1)}
    ran = {line for first, last in heads.items() for line in range(first, last + 1)} - missed
    partly = {m.line: str(m) for m in coverage.missed_branches}
    for number, text in enumerate(coverage.source.split("\n"), 1):
        state = "missed" if number in missed else "partly" if number in partly else "ran" if number in ran else ""
        note = f'<span class="note">   never {escape(partly[number])}</span>' if number in partly else ""
        yield f'<span class="line {state}"><span class="no">{number:4}  </span>{escape(clean(text))}{note}</span>'
    yield "</pre>"
