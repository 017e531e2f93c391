"""``codeplan.do`` and ``codeplan do`` with MCP servers: approvals, traces, files, and what ends an episode."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.boxes import Replies
from support.mcp_addresses import command_line, raw
from support.reply_server import endpoint as endpoint
from support.reply_server import reply

import codeplan
from codeplan.cli import main
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.recording.events import CallBegun, CallDecided
from codeplan.recording.trace import Trace


def plan(lines):
    body = "".join(f"        {line}\n" for line in lines.splitlines())
    return f"def solution(agent, start_from=1):\n    if start_from <= 1:\n{body}"


def do(lines, *servers, **options):
    model = Replies(*[plan(lines)] * 6)
    return codeplan.do("do it", mcp=servers, model=model, verify=lambda value: value == "done", **options)


def own(x: int) -> int:
    return x + 1


def test_calls_are_actions_of_the_episode_beside_those_of_functions(tmp_path):
    lines = "assert agent.own(1) == 2\nassert agent.echo() == '{}'\nreturn 'done'"
    result = do(lines, raw("echo"), tools=own, allow=["echo"], out=tmp_path / "run")
    assert result.success and result.actions == 2
    events = list(Trace.read(tmp_path / "run" / "trace.jsonl"))
    assert [e.call.name for e in events if isinstance(e, CallBegun)] == ["own", "echo"]
    assert [(e.tool, e.allowed, e.by, e.pattern) for e in events if isinstance(e, CallDecided)] == [
        ("echo", True, "pattern", "echo")
    ]


MEETING = """
import asyncio
from mcp.server.mcpserver import MCPServer

server = MCPServer("meeting", log_level="ERROR")
there = 0


@server.tool()
async def meet(number: int) -> int:
    global there
    there += 1
    while there < 8:
        await asyncio.sleep(0.001)
    return number


server.run("stdio")
"""


def test_calls_of_a_server_that_begin_together_run_together(tmp_path):
    """Each waits until eight are there."""
    (tmp_path / "server.py").write_text(MEETING)
    lines = "met = each(agent.meet, range(8))\nassert met == [*range(8)]\nreturn 'done'"
    assert do(lines, f"{sys.executable} {tmp_path / 'server.py'}", allow=["meet"], mcp_timeout=30).success


def test_models_read_how_files_are_returned():
    model = Replies(*[plan("return 'done'")] * 2)
    codeplan.do("do it", mcp=[raw("echo")], model=model)
    codeplan.do("do it", tools=own, model=model)
    assert ["'files': list[dict]" in "".join(m["content"] for m in messages) for _, messages in model.asked] == [
        True,
        False,
    ]


def test_a_servers_tool_needs_approval_unless_it_is_allowed():
    waits = do("agent.echo()\nreturn 'done'", raw("echo"))
    assert waits.reason.endswith("at step 1, line 3; allow it: codeplan approve RUN, or resume with --allow echo")
    assert do("agent.echo()\nreturn 'done'", raw("echo"), allow="echo").success


def test_without_patterns_only_servers_tools_are_asked_for():
    asked = []
    approve = lambda call: asked.append(call.tool) or True  # noqa: E731
    result = do("agent.own(1)\nagent.echo()\nreturn 'done'", raw("echo"), tools=own, ask=(), approve=approve)
    assert result.success and asked == ["echo"]


@pytest.mark.parametrize(
    ("tool", "error", "words"),
    [
        ("die", "ConnectionError", "the MCP server raw ended with exit code 9 during die"),
        ("nested", "ValueError", "nested deeper than 32"),
    ],
)
def test_a_plan_can_catch_what_goes_wrong(tool, error, words):
    lines = f"try:\n    agent.{tool}()\nexcept {error} as e:\n    assert {words!r} in str(e), str(e)\n    return 'done'"
    result = do(lines, raw(tool), allow=["*"], tries=1)
    assert result.success, result.reason


def test_a_result_of_many_values_is_an_error_of_the_call():
    lines = "try:\n    agent.huge(arguments={'size': 500000})\nexcept ValueError as e:\n    return 'done'"
    huge = "[{'name': 'huge', 'inputSchema': {'type': 'object', 'additionalProperties': True}}]"
    assert do(lines, raw(tools=huge), allow=["*"], tries=1).success


def test_a_call_that_its_server_never_got_is_not_in_doubt(tmp_path):
    lines = "for _ in range(3):\n    try:\n        agent.die()\n    except OSError:\n        pass\nreturn 'done'"
    with pytest.raises(
        EnvironmentFailure, match="raw ended with exit code 9 again .*; to see why, run its command in a terminal"
    ):
        do(lines, raw("die"), allow=["*"], out=tmp_path / "run")
    verify = lambda value: value == "done"  # noqa: E731
    result = codeplan.resume(tmp_path / "run", model=Replies(plan(lines)), mcp=[raw("die")], allow=["*"], verify=verify)
    assert result.success and result.actions == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mcp": []}, "there are no tools"),
        ({"mcp": [" "]}, "this one is empty"),
        ({"mcp": "x", "mcp_timeout": 0}, "mcp_timeout is a number of seconds"),
        ({"mcp_config": "no-such-file.json"}, "no-such-file.json cannot be read"),
        ({"mcp": "x", "goal": " "}, "the goal is empty"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(options, message):
    with pytest.raises(UsageError, match=message):
        codeplan.do(**{"goal": "do it", "model": Replies(), **options})


@pytest.fixture
def at_endpoint(tmp_path, monkeypatch, endpoint):
    """The arguments of the command, with a model that knows one plan."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")

    def arguments(lines, *more):
        endpoint.answer(reply(f"```python\n{plan(lines)}```"))
        return ["do", "do it", "--model", "tiny", "--base-url", endpoint.url, "-q", *more]

    return arguments


def test_the_command_takes_servers_and_a_file(at_endpoint, tmp_path, capsys):
    entry = {"command": raw("b").command[0], "args": list(raw("b").command[1:])}
    Path("mcp.json").write_text(json.dumps({"mcpServers": {"second": entry}}))
    lines = "agent.a()\nreturn agent.b()"
    given = ["--mcp", command_line(raw("a")), "--mcp-config", "mcp.json", "--allow", "*"]
    assert main(at_endpoint(lines, *given)) == 1  # claimed
    assert capsys.readouterr().out.splitlines()[-1] == '"{}"'


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["--mcp", "no-such-program"], 4, "the MCP server no_such_program cannot start: there is no program"),
        (["--mcp", "false"], 4, "the MCP server false ended"),
        (["--mcp", "http://127.0.0.1:9/mcp"], 4, "the MCP server server cannot be reached at 127.0.0.1:9: "),
        ([], 2, "there are no tools; name a Python file with --tools FILE.py, or an MCP server with --mcp"),
    ],
)
def test_a_server_that_is_not_there_ends_the_command_in_a_sentence(at_endpoint, capsys, given, code, message):
    assert main(at_endpoint("pass", *given)) == code
    err = capsys.readouterr().err
    assert message in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_leaves_no_server_when_it_is_ended(at_endpoint, tmp_path, number):
    entry = {"command": sys.executable, "args": list(raw("silent").command[1:]), "env": {"PIDFILE": "pids"}}
    Path("mcp.json").write_text(json.dumps({"mcpServers": {"raw": entry}}))
    command = at_endpoint("agent.silent()", "--mcp-config", "mcp.json", "--allow", "*", "--out", "run")
    with subprocess.Popen([sys.executable, "-m", "codeplan", *command], stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 60
        while "ModelAsked" not in _text("run/trace.jsonl") and '"model' not in _text("run/trace.jsonl"):
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.1)
        time.sleep(1)
        process.send_signal(number)
        process.communicate(timeout=60)
    until = time.monotonic() + 15
    while any(Path(f"/proc/{pid}").exists() for pid in _text("pids").split()):
        assert time.monotonic() < until
        time.sleep(0.1)


def _text(path):
    return Path(path).read_text() if Path(path).exists() else ""
