"""Coverage of plans over a pytest session, also across xdist's processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codeplan.sandbox.protocol.run_progress import LineCoverage
from codeplan.testing.cases import coverage_page
from codeplan.testing.cases.case import PlanSuite
from codeplan.testing.cases.case_run import CoverageCallback
from codeplan.testing.cases.coverage import LineArc, PlanCoverage, coverage_percent, format_table
from codeplan.untrusted.terminal import clean

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
            terminalreporter.line(clean(f"pages: {coverage_page.write_pages(Path(folder), coverages)}"))
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
