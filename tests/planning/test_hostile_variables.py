"""Plans that leave hostile variables: each place that shows or compares them ends soon and stays small."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from support.boxes import Boxes, Replies
from support.foreign_values import VALUES, as_plan, count_steps

from codeplan.planning.feedback import MAX_PART_CHARS
from codeplan.report.json_output import MAX_VARIABLES_BYTES, outcome_as_json
from codeplan.report.pages import html_page
from codeplan.runner.episodes import run
from codeplan.runner.given_plans import execute
from codeplan.testing.cases import CaseRunner, PlanSuite, format_report
from codeplan.types import Failed

pytestmark = pytest.mark.long

MAX_STEPS = 3_000_000
"""Calls of functions for what one place does with one set of variables; some visit each of 50,000 values."""

SECONDS = 120
"""After this a program that a test started is killed. It needs a second or two."""

HOSTILE = pytest.mark.parametrize("body", VALUES.values(), ids=VALUES)


@cache
def failed(body: str) -> Failed:
    """What the sandbox makes of a plan that builds the variables and fails."""
    outcome = execute(as_plan(body), Boxes(), "ball/2").outcome
    assert isinstance(outcome, Failed), outcome
    assert (outcome.error, outcome.message) == ("AssertionError", "no")
    assert outcome.checkpoint.names or outcome.checkpoint.dropped
    return outcome


@HOSTILE
def test_the_prompt_after_a_failed_assertion_shows_them_within_one_room(body: str) -> None:
    model = Replies(as_plan(body), as_plan("x = 1"))
    result = run(Boxes(), "ball/2", "adaplanner", model, tries=2)

    assert not result.success
    assert model.purposes == ["plan", "refine"]
    prompt = model.asked[1][1][-1]["content"]
    variables = prompt.split("<variables>\n")[1].split("\n</variables>")[0]
    assert 0 < len(variables) <= MAX_PART_CHARS["variables"]
    known = {"#", *_names(body)}
    assert all(line.split()[0] in known for line in variables.splitlines())


def _names(body: str) -> set[str]:
    """The first words of the lines that may stand in the prompt: names of variables, cut if they are long."""
    checkpoint = failed(body).checkpoint
    return {name if len(name) <= 60 else name[:60] + "…" for name in (*checkpoint.names, *checkpoint.dropped)}


@HOSTILE
def test_the_json_of_an_execution_is_small_and_says_what_is_missing(body: str) -> None:
    outcome = failed(body)
    output = outcome_as_json(outcome, "")

    text = json.dumps(output, indent=2)
    assert len(text) <= MAX_VARIABLES_BYTES + 1_000
    assert json.loads(text)["checkpoint"] == output["checkpoint"]
    assert output["truncated"] == bool(set(outcome.checkpoint.names) - set(output["checkpoint"]))
    assert "…" not in json.dumps(output["checkpoint"], ensure_ascii=False)
    assert count_steps(lambda: outcome_as_json(outcome, "")) < MAX_STEPS


@HOSTILE
def test_a_page_shows_them_within_one_room(body: str) -> None:
    checkpoint = failed(body).checkpoint
    shown = html_page.variable_texts(checkpoint, 2_000)

    assert sum(len(name) + len(text) for name, text in shown.texts.items()) <= html_page.MAX_VARIABLE_CHARACTERS * 2
    assert all(len(text) <= 2_001 for text in shown.texts.values())
    assert count_steps(lambda: html_page.variable_texts(checkpoint, 2_000)) < MAX_STEPS


@HOSTILE
def test_a_plan_test_that_expects_other_values_fails_with_a_short_report(body: str, tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(as_plan(body, "assert agent.receptacles"))
    manifest = tmp_path / "hostile.plan.toml"
    manifest.write_text(
        'plan = "hostile.py"\nenv = "household"\n[expect]\nsuccess = false\n'
        "checkpoint = { x = [[[[1, 2], 3], {a = 'b'}], 'c'], y = 'd', missing = 3 }\n[[tasks]]\nid = 'clean/418'\n"
    )
    runner = CaseRunner(PlanSuite(manifest))
    (case,) = (case for case in runner.suite.cases if not case.check)
    verdict = runner.run(case)

    complaints = [complaint.message for complaint in verdict.complaints]
    assert any("missing" in complaint for complaint in complaints)
    assert all(len(complaint) < 1_000 for complaint in complaints)
    report = format_report("hostile", [(c.message, c.run) for c in verdict.complaints])
    assert len(report) < 20_000


def test_a_value_that_is_expected_is_found_among_hostile_ones(tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(as_plan(VALUES["forty doubled lists"] + "\ny = (1, {'a': 2})", "assert y"))
    manifest = tmp_path / "hostile.plan.toml"
    manifest.write_text(
        'plan = "hostile.py"\nenv = "household"\n[expect]\nsuccess = false\ncheckpoint = { y = [1, {a = 2}] }\n'
        "[[tasks]]\nid = 'clean/418'\n"
    )
    runner = CaseRunner(PlanSuite(manifest))
    (case,) = (case for case in runner.suite.cases if not case.check)
    assert not runner.run(case).complaints


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "codeplan", *arguments], cwd=folder, capture_output=True, timeout=SECONDS
    )


WORST = ("forty OrderedDicts of pairs", "a mixture")


@pytest.mark.parametrize("name", WORST)
def test_commands_that_execute_such_a_plan_end_and_print_little(name: str, tmp_path: Path) -> None:
    (tmp_path / "plan.py").write_text(as_plan(VALUES[name]))
    given = ("exec", "plan.py", "--env", "household", "--task", "clean/418")

    as_json = command(tmp_path, *given, "--json")
    assert as_json.returncode == 1, as_json.stderr
    assert json.loads(as_json.stdout)["truncated"] is True
    assert len(as_json.stdout) < 300_000

    live = command(tmp_path, *given, "--out", "traced")
    assert live.returncode == 1, live.stderr
    assert len(live.stdout + live.stderr) < 20_000

    page = command(tmp_path, "report", "traced", "-o", "page.html")
    assert page.returncode == 0, page.stderr
    replayed = command(tmp_path, "replay", "traced")
    assert replayed.returncode == 0, replayed.stderr
    assert len(replayed.stdout + replayed.stderr) < 20_000
