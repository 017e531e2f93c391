"""Coverage: the steps, lines and branches of a plan that ran, over all its cases.

The sandbox's workers report the lines that ran, and an analysis in the cage finds the lines that can run. Both are
checked for size and range, and they affect only a percentage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from codeplan.sandbox import Sandbox
from codeplan.sandbox.host.backend import LineCoverage
from codeplan.testing.cases import PlanSuite
from codeplan.testing.plan_runs import CoverageCallback
from codeplan.types import Rejected
from codeplan.untrusted.files import write_atomically
from codeplan.untrusted.texts import clean

LineArc = tuple[int, int]
"""Two lines that ran one after the other in one function; 0 is outside it."""


class RunnableLines(msgspec.Struct, frozen=True):
    """The lines of a plan that can run; see the analysis ``lines``."""

    statements: tuple[tuple[int, int], ...] = ()
    branches: tuple[tuple[int, int, int], ...] = ()
    steps: tuple[tuple[int, int], ...] = ()


class MissedBranch(NamedTuple):
    """A branch that was never taken: from a line to ``target``, or elsewhere if that is None."""

    line: int
    target: int | None

    def __str__(self) -> str:
        return f"{self.line}->{'else' if self.target is None else self.target}"


class PlanCoverage:
    """The coverage of one plan. ``label`` is its displayed name."""

    def __init__(self, label: str, source: str, arcs: Iterable[LineArc]) -> None:
        self.label, self.source = label, source
        self._arcs = set(arcs)
        self._ran = {line for arc in self._arcs for line in arc}

    @cached_property
    def runnable(self) -> RunnableLines:
        """The lines that can run; none if the source is not Python."""
        found = Sandbox().analyse("lines", self.source)
        return RunnableLines() if isinstance(found, Rejected) else msgspec.convert(found, RunnableLines)

    @cached_property
    def missed_lines(self) -> tuple[int, ...]:
        """The first lines of the statements that never ran."""
        return tuple(first for first, last in self.runnable.statements if not self._reached(first, last))

    @cached_property
    def missed_branches(self) -> tuple[MissedBranch, ...]:
        """The branches never taken of conditions that ran."""
        found: list[MissedBranch] = []
        for first, last, target in self.runnable.branches:
            if self._reached(first, last):
                found += [MissedBranch(first, to) for to, taken in self._ways(first, last, target) if not taken]
        return tuple(found)

    @cached_property
    def missed_steps(self) -> tuple[int, ...]:
        """The numbers of the steps that were never entered."""
        firsts = {line: number for number, line in self.runnable.steps}
        lines = sorted(firsts)
        bodies = zip(lines, [*lines[1:], self.source.count("\n") + 2], strict=True)
        return tuple(firsts[line] for line, end in bodies if not self._reached(line + 1, end - 1))

    @property
    def lines(self) -> tuple[int, int]:
        """The number of statements that ran, and of all statements."""
        return len(self.runnable.statements) - len(self.missed_lines), len(self.runnable.statements)

    @property
    def branches(self) -> tuple[int, int]:
        """The number of branches that were taken, and of all branches. A condition that never ran has taken none."""
        total = 2 * len(self.runnable.branches)
        never = sum(2 for first, last, _ in self.runnable.branches if not self._reached(first, last))
        return total - never - len(self.missed_branches), total

    @property
    def steps(self) -> tuple[int, int]:
        """The number of steps that were entered, and of all steps."""
        return len(self.runnable.steps) - len(self.missed_steps), len(self.runnable.steps)

    def _reached(self, first: int, last: int) -> bool:
        return any(line in self._ran for line in range(first, last + 1))

    def _ways(self, first: int, last: int, target: int) -> list[tuple[int | None, bool]]:
        """Return the two branches of a condition, and whether each was taken."""
        went = {to for line, to in self._arcs if first <= line <= last and not first <= to <= last}
        return [(target, target in went), (None, bool(went - {target}))]


def coverage_percent(coverages: Iterable[PlanCoverage]) -> float:
    """Return the percentage of lines and branches, together, that ran; 100 if there are none."""
    counts = [count for c in coverages for count in (c.lines, c.branches)]
    ran, total = sum(c[0] for c in counts), sum(c[1] for c in counts)
    return 100.0 * ran / total if total else 100.0


def format_table(coverages: Iterable[PlanCoverage]) -> list[str]:
    """Return the figures as lines of text, one plan a line."""
    listed = list(coverages)
    width = max([4, *(len(c.label) for c in listed)])
    rows = [f"{'Plan':{width}}  {'Steps':>7}  {'Lines':>7}  {'Branches':>8}  {'Cover':>6}  Missing"]
    for c in listed:
        missing = ", ".join([*map(str, c.missed_lines), *map(str, c.missed_branches)])
        counts = f"{_format_counts(c.steps):>7}  {_format_counts(c.lines):>7}  {_format_counts(c.branches):>8}"
        rows.append(f"{c.label:{width}}  {counts}  {coverage_percent([c]):>4.0f} %  {missing}".rstrip())
    if len(listed) > 1:
        rows.append(f"{'all':{width}}  {'':7}  {'':7}  {'':8}  {coverage_percent(listed):>4.0f} %")
    return rows


def _format_counts(counts: tuple[int, int]) -> str:
    return f"{counts[0]}/{counts[1]}"


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


_SENT = "codeplan_coverage"


class CoveragePlugin:
    """Collects the lines that run, reports them, and fails the session if coverage is too low."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._arcs: dict[str, set[LineArc]] = {}
        self._sources: dict[str, str] = {}

    def callback_for(self, suite: PlanSuite) -> CoverageCallback:
        """Return the callback that receives the lines of a suite's plan."""
        arcs = self._arcs_of(suite.label, suite.source)

        def on_coverage(covered: LineCoverage) -> None:
            arcs.update(covered.arcs)

        return on_coverage

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send the arcs to xdist's controller, or compare the coverage with the minimum."""
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_SENT] = [[n, self._sources[n], [list(a) for a in arcs]] for n, arcs in self._arcs.items()]
            return
        wanted = self._config.getoption("plan_cov_fail_under")
        if wanted is not None and session.exitstatus == pytest.ExitCode.OK and self._percent() < wanted:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Receive the arcs of an xdist process."""
        for label, source, arcs in getattr(node, "workeroutput", {}).get(_SENT, ()):
            self._arcs_of(label, source).update((a, b) for a, b in arcs)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Report the figures."""
        coverages = self._coverages()
        terminalreporter.section("coverage of plans")
        for line in format_table(coverages) if coverages else ["no plan was run"]:
            terminalreporter.line(clean(line))
        if folder := self._config.getoption("plan_cov_html"):
            terminalreporter.line(clean(f"pages: {write_pages(Path(folder), coverages)}"))
        wanted = self._config.getoption("plan_cov_fail_under")
        if wanted is not None and self._percent() < wanted:
            terminalreporter.line(
                f"FAIL: coverage is {self._percent():.1f} %, below the required {wanted:g} %", red=True
            )

    def _arcs_of(self, label: str, source: str) -> set[LineArc]:
        """Return a plan's arcs. Two texts under one label, such as an edited file, are two plans."""
        known = self._sources.get(label)
        if known is not None and known != source:
            return self._arcs_of(f"{label}'", source)
        self._sources[label] = source
        return self._arcs.setdefault(label, set())

    def _coverages(self) -> list[PlanCoverage]:
        return [PlanCoverage(label, self._sources[label], arcs) for label, arcs in sorted(self._arcs.items())]

    def _percent(self) -> float:
        return coverage_percent(self._coverages())
