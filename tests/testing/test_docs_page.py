"""Follows the page on testing plans from the top: an episode, a test, red, green."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from codeplan.cli.app import main
from codeplan.testing.faults import FAULTS
from codeplan.testing.manifest import AnswerSources, Expectations, PlanManifest

PAGE = (Path(__file__).parents[2] / "docs" / "testing-plans.md").read_text()


def blocks(language: str) -> list[str]:
    """Return the page's code blocks in a language, in order."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return [text for name, text in found if name == language]


def mend(plan: Path) -> None:
    """Make the edit that the page describes."""
    old = "        visit('shelf 2')\n        agent.put(found, 'shelf 2')\n"
    assert old in plan.read_text()
    plan.write_text(plan.read_text().replace(old, blocks("python")[0]))


@pytest.fixture
def newcomer(tmp_path, monkeypatch, capsys):
    """A folder after the page's first commands."""
    monkeypatch.chdir(tmp_path)
    for line in blocks("")[0].splitlines():
        assert main(shlex.split(line)[1:] + (["-p", "no:cacheprovider"] if " test " in line else [])) == 0
    assert "2 passed" in capsys.readouterr().out
    return tmp_path


@pytest.mark.long
def test_the_pages_commands_lead_from_an_episode_to_red_and_green_tests(newcomer, capsys):
    tests = newcomer / "tests" / "plans"
    manifest, plan = tests / "clean_22.plan.toml", tests / "clean_22.plan.py"
    shown, added = blocks("toml")[:2]
    assert [line for line in shown.splitlines() if line and line[0] != "#"] == [
        line for line in manifest.read_text().splitlines() if line and line[0] != "#"
    ]

    manifest.write_text(manifest.read_text() + added)
    assert main(["test", "tests/plans", "-p", "no:cacheprovider"]) == 1
    assert blocks("text")[0] in capsys.readouterr().out

    mend(plan)
    assert main(["test", "tests/plans", "-p", "no:cacheprovider"]) == 0

    text = manifest.read_text().replace('faults = "none"', 'faults = "all"').replace("# model =", "model =")
    manifest.write_text(text)
    assert main(["test", "tests/plans", "-q", "-p", "no:cacheprovider"]) == 0


def test_the_pages_python_tests_run_unchanged(newcomer, pytester):
    mend(newcomer / "tests" / "plans" / "clean_22.plan.py")
    (pytester.path / "tests").symlink_to(newcomer / "tests")
    pytester.makepyfile(test_kettle=blocks("python")[1])
    pytester.runpytest("test_kettle.py").assert_outcomes(passed=3)


def test_every_fault_and_every_key_is_on_the_page():
    assert [name for name in FAULTS if f"`{name}`" not in PAGE] == []
    keys = [*PlanManifest.__struct_fields__, *Expectations.__struct_fields__, *AnswerSources.__struct_fields__]
    assert [
        key for key in keys if f"`{key}`" not in PAGE and f"`[{key}]`" not in PAGE and f"`[[{key}]]`" not in PAGE
    ] == []
