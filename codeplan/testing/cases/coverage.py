"""Coverage: the steps, lines and branches of a plan that ran, over all its cases.

The sandbox's workers report the lines that ran, and an analysis in the cage finds the lines that can run. Both are
checked for size and range, and they affect only a percentage.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import msgspec

from codeplan.sandbox import Sandbox
from codeplan.types import Rejected

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
