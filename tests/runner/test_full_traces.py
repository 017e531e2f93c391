"""A trace that is full ends the episode before the call that could not be recorded."""

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.boxes import Replies

import codeplan
from codeplan import Budget
from codeplan.cli import main
from codeplan.recording.event_log import MAX_EVENT_BYTES, TraceSize
from codeplan.recording.events import CallBegun, EpisodeContinued, EpisodeEnded, WarningIssued
from codeplan.recording.trace import Trace
from codeplan.runner.setup import EpisodeSetup
from codeplan.tools import ToolEnvironment, Toolset, python_tools
from codeplan.types import TraceFull

LIMIT = 503_316_480
TOOLS = """
def send(to: str) -> str:
    with open("sent.log", "a") as log:
        log.write(to)
    return "x" * 300_000
"""
PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] send')
        said = 0
        for name in 'abcd':
            try:
                said += len(agent.send(name))
            except Exception as e:
                said = str(e)
        assert said, 'Error in [Step 1]: nothing'
    return said
"""


@pytest.fixture
def full(tmp_path, monkeypatch):
    """The folder of an episode whose trace had room for two calls."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.py").write_text(TOOLS)
    namespace = {}
    exec((tmp_path / "tools.py").read_text(), namespace)
    size, warned = TraceSize(), WarningIssued(message="")
    for _ in range(LIMIT // MAX_EVENT_BYTES - 2):
        size.count(warned, b" " * MAX_EVENT_BYTES)
    size.count(warned, b" " * (MAX_EVENT_BYTES - 500_000))
    env, model = ToolEnvironment("send", Toolset(python_tools(namespace["send"]))), Replies(PLAN)
    with closing(env), EpisodeSetup(env, "adaplanner", model, {}) as setup:
        (task,) = env.tasks("test")
        with closing(Trace(Path("run/trace.jsonl"), size=size)) as trace:
            result = setup.run(setup.header(task, Budget()), trace)
    assert isinstance(result.ending, TraceFull) and result.ending.limit == LIMIT and model.purposes == ["plan"]
    return result


def log(folder):
    return (folder / "sent.log").read_text()


def test_no_call_is_made_that_could_not_be_recorded_and_neither_plan_nor_model_gets_an_error(full, tmp_path):
    assert log(tmp_path) == "ab" and full.actions == 2
    events = Trace.read(tmp_path / "run" / "trace.jsonl")
    assert sum(isinstance(e, CallBegun) for e in events) == 2 and isinstance(events[-1], EpisodeEnded)
    assert "the trace is full" in full.reason


def test_it_goes_on_only_where_a_trace_may_be_larger(full, tmp_path):
    before = (tmp_path / "run" / "trace.jsonl").read_bytes()
    given = {"tools": "tools.py", "model": Replies()}
    assert codeplan.resume("run", **given) == full and (tmp_path / "run" / "trace.jsonl").read_bytes() == before
    end = json.loads(before.splitlines()[-1])
    end["result"]["ending"]["limit"] = LIMIT - 1  # as recorded where another limit held
    (tmp_path / "run" / "trace.jsonl").write_bytes(b"".join(before.splitlines(keepends=True)[:-1]))
    with (tmp_path / "run" / "trace.jsonl").open("a") as trace:
        trace.write(json.dumps(end) + "\n")
    result = codeplan.resume("run", **given)
    assert result.value == 1_200_000 and log(tmp_path) == "abcd"
    assert [type(e) for e in Trace.read("run/trace.jsonl") if isinstance(e, EpisodeContinued)] == [EpisodeContinued]
    assert codeplan.replay("run") == result


def test_the_command_that_ends_so_prints_the_variable_that_goes_on(full, tmp_path, capsys):
    assert main(["resume", "run", "--tools", "tools.py", "-q"]) == 3
    said = "to go on, run: CODEPLAN_MAX_TRACE_MIB=1024 codeplan resume run; name the tools again, as for this command"
    assert said in capsys.readouterr().err
    (tmp_path / "model.py").write_text("def reply(messages):\n    raise AssertionError\n")
    command = [sys.executable, "-m", "codeplan", "resume", "run", "--tools", "tools.py", "--model", "model.py:reply"]
    env = {"PATH": "/usr/bin:/bin", "CODEPLAN_MAX_TRACE_MIB": "1024", "HOME": str(tmp_path)}
    done = subprocess.run([*command, "-q"], capture_output=True, text=True, env=env)
    assert done.returncode == 1 and "1200000" in done.stdout and log(tmp_path) == "abcd", done.stderr
