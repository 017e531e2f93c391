"""A budget of seconds ends an open call, and the command tells what failed where."""

import json
import time
from pathlib import Path

import pytest

from codeplan.cli import main
from codeplan.recording.events import CallAnswered, CallBegun, EpisodeContinued
from codeplan.recording.trace import Trace

TOOLS = """
import pathlib, time

def slow(to: str) -> str:
    log = pathlib.Path("sent.log")
    log.write_text((log.read_text() if log.exists() else "") + to + " ")
    time.sleep(20 if to == "bob" else 0)
    return to

def get(key: str) -> int:
    return {"a": 1}[key]
"""
PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] send')
        said = []
        for to in ['ann', 'bob', 'cid']:
            try:
                said.append(agent.slow(to))
            except OSError as e:
                said.append(str(e))
        assert len(said) == 3, 'Error in [Step 1]: not all'
    return said
"""
FAILS = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] look')
        x = agent.get('a')
        assert x, 'Error in [Step 1]: nothing'
    if start_from <= 2:
        print('[Step 2] look again')
        x = agent.get('b')
        assert x, 'Error in [Step 2]: nothing'
    return x
"""
CATCHES = FAILS.replace(
    "        x = agent.get('b')\n",
    "        try:\n            x = agent.get('b')\n        except KeyError:\n            x = 2\n",
)
GIVEN = ["--tools", "tools.py", "--model", "model.py:reply"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.py").write_text(TOOLS)


def plays(plan):
    Path("model.py").write_text(f"def reply(messages):\n    return {plan!r}\n")


def events(*kinds):
    return [e for e in Trace.read("run/trace.jsonl") if isinstance(e, kinds)]


def test_a_budget_of_seconds_ends_an_open_call_and_more_seconds_go_on_there(capsys):
    plays(PLAN)
    started = time.monotonic()
    assert main(["do", "send", *GIVEN, "--max-seconds", "3", "--out", "run", "--json"]) == 3
    seconds = time.monotonic() - started
    shown = capsys.readouterr()
    result = json.loads(shown.out)
    assert 2.9 < result["seconds"] < 4 and seconds < 8
    assert result["ending"]["kind"] == "seconds"
    assert (
        "codeplan: to go on, run: codeplan resume run --max-seconds 6 --model model.py:reply; name the tools again"
        in shown.err
    )
    (_, answered) = events(CallAnswered)
    assert answered.answer.in_doubt and answered.answer.error == "TimeoutError"
    assert Path("sent.log").read_text() == "ann bob "
    assert main(["resume", "run", *GIVEN, "--max-seconds", "60", "--json"]) == 1
    value = json.loads(capsys.readouterr().out)["value"]
    assert value[::2] == ["ann", "cid"] and "whether it was done is unknown" in value[1] and "slow" in value[1]
    assert Path("sent.log").read_text() == "ann bob cid "
    assert len(events(CallBegun)) == 3 and len(events(EpisodeContinued)) == 1
    assert main(["replay", "run"]) == 0


def test_an_exception_of_a_tool_that_ends_a_plan_is_told_with_its_tool_step_and_line(capsys):
    plays(FAILS)
    assert main(["do", "look", *GIVEN, "--set", "tries=1", "--out", "run", "-q"]) == 1
    shown = capsys.readouterr()
    assert "Last failure KeyError of the tool get in step 2, line 8: 'b'" in shown.out
    assert shown.err.count("Traceback") == 1 and "The tool get failed" in shown.err
    assert main(["resume", "run", "--json"]) == 1
    failure = json.loads(capsys.readouterr().out)["failure"]
    assert (failure["tool"], failure["step"], failure["line"], failure["error"]) == ("get", 2, 8, "KeyError")


def test_an_exception_that_a_plan_caught_is_neither_a_failure_nor_shown(capsys, monkeypatch):
    plays(CATCHES)
    assert main(["do", "look", *GIVEN, "--out", "run", "--json"]) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out)["failure"] is None and json.loads(shown.out)["value"] == 2
    assert "Traceback" not in shown.err and any(e.answer.error == "KeyError" for e in events(CallAnswered))
    monkeypatch.setenv("CODEPLAN_DEBUG", "1")
    assert main(["do", "look", *GIVEN, "-q"]) == 1
    assert "The tool get failed" in capsys.readouterr().err
