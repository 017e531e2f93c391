"""The pytest plugin: collects ``*.plan.toml`` manifests and brings fixtures for tests of plans in Python.

pytest imports it in every project, so it does nothing, and loads nothing, until a manifest or a fixture is met.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from codeplan.testing.cases.helpers import (
        AssertResumes,
        AssertSteps,
        EpisodeTape,
        FakeAgentFactory,
        PlanRunner,
        ScriptedLLMFactory,
    )

_MARKERS = (
    "plan: a test of a plan, collected from a *.plan.toml manifest",
    "plan_fault: a test of a plan in a world that misbehaves",
    "plan_resume: a test of a plan that is broken off and resumed",
    "plan_mutants: a test of a plan's tests: do they notice when the plan is changed?",
    "plan_live: a test of a plan whose questions a real model answers; runs with --live-llm only",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, in a group of their own."""
    group = parser.getgroup("codeplan", "tests of plans (codeplan)")
    group.addoption("--live-llm", action="store_true", help="let a real model answer where a manifest names one")
    group.addoption("--plan-mutants", action="store_true", help="change the plans and see whether their tests notice")
    group.addoption("--plan-cov", action="store_true", help="show which steps, lines and branches of the plans ran")
    group.addoption("--plan-cov-html", metavar="DIR", help="write that as pages to DIR")
    group.addoption(
        "--plan-cov-fail-under", type=float, metavar="PERCENT", help="fail where less of the lines and branches ran"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known; watch coverage where it is asked for."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    wanted = ("plan_cov", "plan_cov_html", "plan_cov_fail_under")
    if any(config.getoption(name) not in (None, False) for name in wanted):
        from codeplan.testing.cases.pytest_coverage import CoveragePlugin

        config.pluginmanager.register(CoveragePlugin(config), "codeplan-coverage")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The tests of a manifest."""
    if not file_path.name.endswith(".plan.toml"):
        return None
    from codeplan.testing.cases.collection import ManifestFile

    return ManifestFile.from_parent(parent, path=file_path)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How strong the plans' assertions are, where their mutants were tried."""
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, ())]
    scores = [text for r in reports for name, text in getattr(r, "user_properties", ()) if name == "plan_mutants"]
    if scores:
        terminalreporter.section("strength of plans' assertions")
        for text in scores:
            terminalreporter.line(text)


@pytest.fixture(scope="session")
def plan_runner() -> PlanRunner:
    """Runs a plan in the sandbox: ``plan_runner(source, "household", "heat/17")``; see ``helpers.PlanRunner``."""
    from codeplan.testing.cases.helpers import PlanRunner

    return PlanRunner()


@pytest.fixture(scope="session")
def scripted_llm() -> ScriptedLLMFactory:
    """Makes a model that answers as told: a text, texts in order, a dict of patterns, or a function."""
    from codeplan.testing.cases.answer_models import scripted_llm

    return scripted_llm


@pytest.fixture(scope="session")
def fake_agent() -> FakeAgentFactory:
    """Makes an agent without a world: ``fake_agent("household", goto="On the desk 1, you see a mug 1.")``."""
    from codeplan.testing.cases.fake_agent import fake_agent

    return fake_agent


@pytest.fixture
def episode_tape(request: pytest.FixtureRequest) -> Iterator[EpisodeTape]:
    """Plays episodes from a tape beside the test, or records it where there is none and ``--live-llm`` is given."""
    from codeplan.testing.cases.helpers import EpisodeTape

    tape = EpisodeTape(request.path.parent, record=bool(request.config.getoption("live_llm")))
    yield tape
    tape.close()


@pytest.fixture(scope="session")
def assert_steps() -> AssertSteps:
    """Asserts that a run entered these steps, in order: ``assert_steps(run, 1, 2, 3)``."""
    from codeplan.testing.cases.helpers import assert_steps

    return assert_steps


@pytest.fixture(scope="session")
def assert_resumes() -> AssertResumes:
    """Asserts that a plan that is broken off goes on as if it had not been: ``assert_resumes(plan, env, id, at=3)``."""
    from codeplan.testing.cases.helpers import assert_resumes

    return assert_resumes
