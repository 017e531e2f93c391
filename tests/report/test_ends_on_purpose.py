"""What displays, pages, commands and reports show of runs that a plan ended on purpose."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from support.boxes import Boxes, Replies
from typer.testing import CliRunner

import codeplan
from codeplan.cli.app import app
from codeplan.recording.events import ModelCalled
from codeplan.report.json_output import outcome_as_json
from codeplan.report.live import LiveDisplay
from codeplan.report.pages.episode_pages import plan_rows
from codeplan.report.pages.trace_index import TraceIndex
from codeplan.runner.episodes import run
from codeplan.runner.given_plans import execute
from codeplan.testing.cases import find_complaints, format_report
from codeplan.testing.manifest import Expectations
from codeplan.testing.plan_runs import run_once
from codeplan.types import GaveUp, NotSolved

HEAD = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        x = agent.open(1)\n"
LOOK = HEAD + "        replan(f'it said \\x1b[2J{x}')\n"
GROWN = LOOK + "    if start_from <= 2:\n        assert 'ball' in agent.open(2)\n"
NO_BALL = HEAD + "        give_up('no ball\\nanywhere')\n"
"""Both texts have a character that must not reach a terminal as it is."""


def shown(*replies: str) -> str:
    """What the live display prints of an episode."""
    text = io.StringIO()
    run(Boxes(), "ball/2", model=Replies(*replies), on_event=LiveDisplay(Console(file=text, width=200)))
    return text.getvalue()


def test_the_live_display_says_that_a_plan_asked_to_replan_or_gave_up() -> None:
    grown, gave_up = shown(LOOK, GROWN), shown(NO_BALL)
    assert "The plan asked to replan in step 1, line 4" in grown
    assert "it said" in grown
    assert "resumes at step 2 with its variables: x" in grown
    assert "The plan gave up in step 1, line 4" in gave_up
    assert "the plan gave up: no ball anywhere" in gave_up
    assert "\x1b" not in grown + gave_up


def test_the_course_of_an_episode_shows_both_ends(tmp_path: Path) -> None:
    run(Boxes(), "ball/2", model=Replies(LOOK, GROWN), out=tmp_path / "a")
    run(Boxes(), "ball/2", model=Replies(NO_BALL), out=tmp_path / "b")
    ends = {}
    for name in "ab":
        index = TraceIndex(tmp_path / name / "trace.jsonl").refresh()
        ends[name] = [row["end"] for row in plan_rows(index.course_events)]
    (looked, _), (gave_up,) = ends["a"], ends["b"]
    assert (looked["outcome"], looked["step"], looked["line"]) == ("replanned", 1, 4)
    assert "it said" in looked["message"]
    assert (gave_up["outcome"], gave_up["step"]) == ("gave up", 1)


def test_a_grown_episode_is_replayed_as_it_was_and_resumed_from_each_of_its_events(tmp_path: Path) -> None:
    first = run(Boxes(), "ball/2", model=Replies(LOOK, GROWN), out=tmp_path / "a")
    assert first.success
    assert codeplan.replay(tmp_path / "a", env=Boxes()).success
    lines = (tmp_path / "a" / "trace.jsonl").read_text().splitlines(keepends=True)
    for cut in range(2, len(lines)):
        folder = tmp_path / str(cut)
        folder.mkdir()
        (folder / "trace.jsonl").write_text("".join(lines[:cut]))
        answered = sum('"event":"model_called"' in line for line in lines[:cut])
        again = codeplan.resume(folder, env=Boxes(), model=Replies(*(LOOK, GROWN)[answered:]))
        assert (again.ending, again.actions, again.refinements) == (first.ending, first.actions, first.refinements)


def test_a_fork_writes_another_plan_after_the_replan(tmp_path: Path) -> None:
    run(Boxes(), "ball/2", model=Replies(LOOK, GROWN), out=tmp_path / "a")
    events = codeplan.Trace.read(tmp_path / "a" / "trace.jsonl")
    at = [e.seq for e in events if isinstance(e, ModelCalled)][-1]
    other = GROWN.replace("open(2)", "open(3)")
    result = codeplan.fork(tmp_path / "a", at, tmp_path / "b", plan=other, env=Boxes(), model=Replies(GROWN))
    assert (result.success, result.actions) == (True, 3)


def test_a_plan_run_by_itself_ends_with_its_request() -> None:
    done = execute(LOOK, Boxes(), "ball/2")
    assert done.result.ending == NotSolved("the plan asked to replan at step 1: it said \x1b[2JIt is empty.")
    output = outcome_as_json(done.outcome, done.result.reason)
    assert (output["status"], output["step"], output["checkpoint"]) == ("replan", 1, {"x": "It is empty."})
    gave_up = execute(NO_BALL, Boxes(), "ball/2")
    assert gave_up.result.ending == GaveUp("the plan gave up at step 1: no ball\nanywhere")
    assert outcome_as_json(gave_up.outcome, "")["status"] == "gave_up"


@pytest.mark.parametrize(("call", "word"), [("replan", "asked to replan"), ("give_up", "gave up")])
def test_exec_ends_with_exit_code_1_and_one_sentence(tmp_path: Path, call: str, word: str) -> None:
    plan = tmp_path / "plan.py"
    plan.write_text(f"def solution(agent, start_from=1):\n    if start_from <= 1:\n        {call}('why\\x1b[2J')\n")
    found = CliRunner().invoke(app, ["exec", str(plan), "--env", "household", "--json"])
    assert found.exit_code == 1
    assert json.loads(found.stdout)["message"].startswith("why")
    told = CliRunner().invoke(app, ["exec", str(plan), "--env", "household", "--quiet"])
    assert told.exit_code == 1
    assert word in told.output
    assert "\x1b[2J" not in told.output
    assert "Traceback" not in told.output


def test_a_test_of_a_plan_says_how_it_ended() -> None:
    env = Boxes()
    ended = run_once(LOOK, env, env.tasks("test")[1], Replies())
    (complaint,) = find_complaints(ended, Expectations())
    assert complaint.startswith("the plan asked to replan in step 1: it said")
    report = format_report("plan.py", [(complaint, ended)])
    assert "plan.py:4, step 1" in report
    assert "replan: it said" in report
    assert "\x1b" not in report
