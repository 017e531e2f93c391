"""Collects a manifest's cases as pytest tests with stable names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from codeplan.errors import CodeplanError, UsageError
from codeplan.plugins import parse_assignment
from codeplan.testing.cases import RESUME, CaseRunner, CaseVerdict, PlanCase, PlanSuite, format_report
from codeplan.testing.faults import FAULTS
from codeplan.untrusted.texts import clean, one_line
from codeplan.untrusted.values import in_quotes

MUTANTS = "mutants"
"""The name of the test that runs a plan's mutants."""

MAX_TESTS_OF_SESSION = 100_000
"""Maximum number of tests in all manifests of a session: each takes some kilobytes of memory before the first runs."""

_COLLECTED = pytest.StashKey[int]()


class PlanFailure(Exception):
    """A plan differs from its manifest's expectations. The message is the whole report."""


class ManifestFile(pytest.File):
    """A manifest. The first test that needs the environment builds it; it is closed after the last."""

    stage: CaseRunner

    def collect(self) -> Iterator[pytest.Item]:
        suite = self._suite()
        self._count(len(suite.cases))
        for case in suite.cases:
            yield self._marked(CaseItem.from_parent(self, name=one_line(case.name), case=case), case, suite)
        if suite.manifest.mutation and self.config.getoption("plan_mutants"):
            item = MutantsItem.from_parent(self, name=MUTANTS)
            for mark in ("plan", "plan_mutants", *suite.manifest.marks):
                item.add_marker(mark)
            self._mark_live(item, suite)
            yield item

    def teardown(self) -> None:
        """Close the environment if a test has built one."""
        if hasattr(self, "stage"):
            self.stage.close()

    def _suite(self) -> PlanSuite:
        try:
            given = dict(parse_assignment(text, "--plan-set") for text in self.config.getoption("plan_set") or ())
            suite = PlanSuite(Path(os.path.relpath(self.path)), given)
        except UsageError as error:
            raise self.CollectError(clean(str(error))) from None
        coverage = self.config.pluginmanager.get_plugin("codeplan-coverage")
        on_coverage = coverage.callback_for(suite) if coverage else None
        self.stage = CaseRunner(suite, on_coverage, live_llm=bool(self.config.getoption("live_llm")))
        return suite

    def _count(self, tests: int) -> None:
        """Count the manifest's tests. Raises: CollectError: it is one too many for the session."""
        collected = self.config.stash.get(_COLLECTED, 0) + tests
        if collected > MAX_TESTS_OF_SESSION:
            most = f"{MAX_TESTS_OF_SESSION:,}"
            name = clean(os.path.relpath(self.path))
            raise self.CollectError(f"{name}: a session has at most {most} tests; run fewer manifests at once")
        self.config.stash[_COLLECTED] = collected

    def _marked(self, item: CaseItem, case: PlanCase, suite: PlanSuite) -> CaseItem:
        marks = ["plan", *(["plan_fault"] if case.check in FAULTS else [])]
        marks += ["plan_resume"] if case.check == RESUME else []
        for mark in (*marks, *case.marks):
            item.add_marker(mark)
        self._mark_live(item, suite)
        return item

    def _mark_live(self, item: pytest.Item, suite: PlanSuite) -> None:
        if suite.is_live:
            item.add_marker("plan_live")
            if not self.config.getoption("live_llm"):
                item.add_marker(pytest.mark.skip(reason="needs a real model; run it with --live-llm"))


class _ManifestItem(pytest.Item):
    """Base of the tests of a manifest. ``line`` is where the manifest describes the test."""

    line = 1

    @property
    def stage(self) -> CaseRunner:
        return cast(ManifestFile, self.parent).stage

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report of a plan's failure, a message for bad input, or a traceback for a bug."""
        if isinstance(excinfo.value, PlanFailure | CodeplanError):
            return clean(str(excinfo.value))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line - 1, self.name


class CaseItem(_ManifestItem):
    """One case of a manifest."""

    def __init__(self, *, case: PlanCase, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.case = case
        self.line = case.line

    def runtest(self) -> None:
        verdict = self.stage.run(self.case)
        self.user_properties += _properties(self.stage.suite, verdict)
        if verdict.complaints:
            raise PlanFailure(format_report(self.stage.suite.label, verdict.complaints))
        if not verdict.runs:
            pytest.skip(f"the fault {in_quotes(self.case.check)} does not apply to this run")


class MutantsItem(_ManifestItem):
    """Changes the plan in many ways and checks whether the cases notice."""

    def runtest(self) -> None:
        from codeplan.testing.mutation import format_summary, run_mutants, survivor_lines

        with closing(
            CaseRunner(self.stage.suite, live_llm=self.stage.live_llm)
        ) as apart:  # mutants do not count for coverage
            score = run_mutants(apart)
        self.user_properties.append(("plan_mutants", format_summary(score)))
        if score.complaints:
            raise PlanFailure("\n".join([*score.complaints, *survivor_lines(score)]))


def _properties(suite: PlanSuite, verdict: CaseVerdict) -> Iterator[tuple[str, object]]:
    """Yield the properties for the JUnit report and other plugins."""
    yield "plan", suite.label
    if verdict.runs:
        last = verdict.runs[-1]
        yield "plan_runs", len(verdict.runs)
        yield "plan_task", last.task.id
        yield "plan_success", last.success
        yield "plan_actions", last.result.actions
        yield "plan_asks", last.result.asks
