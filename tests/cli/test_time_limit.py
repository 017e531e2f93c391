"""The time of all tests of plans together has a limit, which ends the session between two tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeplan.cli.app import main

PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        assert agent.goto('fridge 1'), agent.report()
"""
MANIFEST = """
plan = "plan.py"
env = "household"
expect = { success = false }
[[tasks]]
kind = "clean"
seeds = "0-2"
"""
SUITE = """
def test_one():
    pass

def test_two(request):
    request.config.pluginmanager.get_plugin("codeplan-time")._end = {end}

def test_three():
    pass
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command that runs a plan and its manifest."""
    (tmp_path / "plan.py").write_text(PLAN)
    (tmp_path / "a.plan.toml").write_text(MANIFEST)
    monkeypatch.chdir(tmp_path)
    return ["test", ".", "-q", "-p", "no:cacheprovider"]


def test_a_suite_that_is_out_of_time_ends_with_the_exit_code_of_a_budget(
    suite: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*suite, "--plan-max-seconds", "0.000001"]) == 3
    shown = capsys.readouterr().out
    assert "the time of --plan-max-seconds 1e-06 is over; not all tests ran" in shown
    assert "Traceback" not in shown and " passed" not in shown


def test_a_suite_within_its_time_runs_as_without_a_limit(suite: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*suite, "--plan-max-seconds", "3600"]) == 0
    with_limit = capsys.readouterr().out.rpartition(" in ")[0]
    assert main(suite) == 0
    assert capsys.readouterr().out.rpartition(" in ")[0] == with_limit


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon", ""])
def test_the_limit_is_a_number_above_zero(suite: list[str], seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*suite, f"--plan-max-seconds={seconds}"]) == 2
    assert "give a number of seconds above 0" in capsys.readouterr().err


@pytest.mark.parametrize(("end", "ran"), [("0.0", 2), ("1e300", 3)])
def test_the_test_that_runs_ends_and_the_next_does_not_begin(pytester: pytest.Pytester, end: str, ran: int) -> None:
    pytester.makepyfile(SUITE.format(end=end))
    found = pytester.runpytest_inprocess("--plan-max-seconds", "3600")
    found.assert_outcomes(passed=ran)
    assert found.ret == (2 if ran == 2 else 0)


def test_a_limit_that_ends_during_the_last_test_changes_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SUITE.format(end="0.0").partition("def test_three")[0])
    found = pytester.runpytest_inprocess("--plan-max-seconds", "3600")
    found.assert_outcomes(passed=2)
    assert found.ret == 0
