"""The pytest plugin: collects ``*.plan.toml`` manifests and provides fixtures for tests of plans in Python.

pytest imports it in every project, so it loads nothing until a manifest or a fixture needs it.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from codeplan.testing.fixtures import EpisodeTape, FakeAgentFactory, PlanRunner, ScriptedLLMFactory


OUT_OF_TIME: Final = pytest.StashKey[bool]()
"""In a configuration's stash: the session ended because of its time."""


class TimeLimit:
    """Ends a session of pytest once its seconds are over, before the next manifest or test. A running test ends."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._session: pytest.Session | None = None
        self._finished = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Keep the session, which the other hooks end."""
        self._session = session

    def pytest_collectreport(self) -> None:
        """Called after each manifest and each folder."""
        self._check()

    def pytest_runtest_logfinish(self) -> None:
        """Called after each test."""
        self._finished += 1
        if self._session and self._finished != self._session.testscollected:
            self._check()

    def _check(self) -> None:
        if self._session and time.monotonic() > self._end:
            self._session.config.stash[OUT_OF_TIME] = True
            self._session.shouldstop = f"the time of --plan-max-seconds {self._seconds:g} is over; not all tests ran"


def parse_seconds(text: str) -> float:
    """The seconds that an option gives. Raises: argparse.ArgumentTypeError: it is not a finite number above zero."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError("give a number of seconds above 0")
    return seconds


_MARKERS = (
    "plan: a test of a plan, collected from a *.plan.toml manifest",
    "plan_fault: a test of a plan in an environment with an injected fault",
    "plan_resume: a test of a plan that is interrupted and resumed",
    "plan_mutants: a test of whether a plan's tests notice changes to the plan",
    "plan_live: a test of a plan that asks a real model; needs --live-llm",
)


_LEFT_OUT = pytest.StashKey[list[str]]()
"""Manifests that are left out because of their names."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, in their own group."""
    group = parser.getgroup("codeplan", "tests of plans (codeplan)")
    group.addoption("--live-llm", action="store_true", help="ask the real models that manifests name")
    help_text = "a setting of manifests' environments that only you can give, such as browser=PROGRAM; repeatable"
    group.addoption("--plan-set", action="append", default=[], metavar="NAME=VALUE", help=help_text)
    help_text = "an environment of manifests that no package registers; repeatable"
    group.addoption("--plan-env", action="append", default=[], metavar="FILE.py:NAME", help=help_text)
    group.addoption("--plan-mutants", action="store_true", help="check whether tests notice changes to the plans")
    group.addoption("--plan-cov", action="store_true", help="report which steps, lines and branches of the plans ran")
    group.addoption("--plan-cov-html", metavar="DIR", help="write the coverage report as HTML pages to DIR")
    group.addoption(
        "--plan-cov-fail-under", type=float, metavar="PERCENT", help="fail if coverage of lines and branches is lower"
    )
    help_text = "start no more tests when these seconds are over"
    group.addoption("--plan-max-seconds", type=parse_seconds, metavar="SECONDS", help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and the plugins for coverage and time if an option asks for them."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    for given in config.getoption("plan_env") or ():
        _use_environment(given)
    wanted = ("plan_cov", "plan_cov_html", "plan_cov_fail_under")
    if any(config.getoption(name) not in (None, False) for name in wanted):
        from codeplan.testing.coverage import CoveragePlugin

        config.pluginmanager.register(CoveragePlugin(config), "codeplan-coverage")
    if (seconds := config.getoption("plan_max_seconds")) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(TimeLimit(seconds), "codeplan-time")  # under pytest-xdist in the controller only


def _use_environment(given: str) -> None:
    from codeplan.errors import CodeplanError
    from codeplan.runner.environment_files import use_environment

    try:
        use_environment(given, many_times=True)
    except CodeplanError as e:
        raise pytest.UsageError(str(e)) from None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect the tests of a manifest, and nothing of a plan: pytest would import it outside the sandbox."""
    found = yield
    if file_path.name.endswith(".plan.py"):
        return []
    manifest = _collect_manifest(file_path, parent) if file_path.name.endswith(".plan.toml") else None
    return [*found, manifest] if manifest else found


def _collect_manifest(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The collector of a manifest; None if its name cannot be shown."""
    from codeplan.testing.collection import ManifestFile
    from codeplan.untrusted.texts import one_line

    name = os.path.relpath(file_path, parent.config.rootpath)
    if one_line(name, len(name)) != name:  # pytest prints names as they are
        parent.config.stash.setdefault(_LEFT_OUT, []).append(name)
        return None
    return ManifestFile.from_parent(parent, path=file_path)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the session if manifests were left out; pass it if it was only to run mutants, and there are none."""
    option = session.config.getoption
    only_mutants = option("plan_mutants") and option("markexpr") == "plan_mutants" and not option("keyword")
    if only_mutants and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK
    if session.config.stash.get(_LEFT_OUT, []) and session.exitstatus in (
        pytest.ExitCode.OK,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Report manifests that were left out, and the strength of the plans' assertions if their mutants ran."""
    for name in config.stash.get(_LEFT_OUT, []):
        from codeplan.untrusted.texts import one_line

        terminalreporter.line(f"codeplan: left out: {one_line(name)}: its name cannot be printed; rename it", red=True)
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, ())]
    scores = [text for r in reports for name, text in getattr(r, "user_properties", ()) if name == "plan_mutants"]
    if scores:
        terminalreporter.section("strength of plans' assertions")
        from codeplan.untrusted.texts import clean

        for text in scores:
            terminalreporter.line(clean(text))
    elif config.getoption("plan_mutants"):
        terminalreporter.line("codeplan: no mutants ran; a manifest asks for them with [mutation]")


@pytest.fixture(scope="session")
def plan_runner() -> PlanRunner:
    """Runs a plan in the sandbox: ``plan_runner(source, "household", "heat/17")``; see ``helpers.PlanRunner``."""
    from codeplan.testing.fixtures import PlanRunner

    return PlanRunner()


@pytest.fixture(scope="session")
def scripted_llm() -> ScriptedLLMFactory:
    """Makes a model with known answers: a text, texts in order, a dict of patterns, or a function."""
    from codeplan.testing.answers import scripted_llm

    return scripted_llm


@pytest.fixture(scope="session")
def fake_agent() -> FakeAgentFactory:
    """Makes an agent without an environment: ``fake_agent("household", goto="On the desk 1, you see a mug 1.")``."""
    from codeplan.testing.fixtures import fake_agent

    return fake_agent


@pytest.fixture
def episode_tape(request: pytest.FixtureRequest) -> Iterator[EpisodeTape]:
    """Replays episodes from a tape beside the test; with ``--live-llm`` it records a missing one."""
    from codeplan.testing.fixtures import EpisodeTape

    tape = EpisodeTape(request.path.parent, record=bool(request.config.getoption("live_llm")))
    yield tape
    tape.close()


@pytest.fixture(scope="session")
def assert_steps() -> Callable[..., None]:
    """Asserts that a run entered these steps, in order: ``assert_steps(run, 1, 2, 3)``."""
    from codeplan.testing.fixtures import assert_steps

    return assert_steps


@pytest.fixture(scope="session")
def assert_resumes() -> Callable[..., None]:
    """Asserts that an interrupted plan continues unchanged: ``assert_resumes(plan, env, id, at=3)``."""
    from codeplan.testing.fixtures import assert_resumes

    return assert_resumes
