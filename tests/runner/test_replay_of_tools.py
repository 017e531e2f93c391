"""An episode with tools is replayed from its trace alone: no tool, no file, no verifier, no model."""

import json
import textwrap
from enum import Enum

import pytest
from support.boxes import Replies
from support.mcp_addresses import raw

import codeplan
from codeplan import Diverged, UsageError
from codeplan.cli import main
from codeplan.recording.trace import Trace


class Colour(Enum):
    RED = "red"


def get(key: str, /, *more: str, colour: Colour = Colour.RED, **others: int) -> dict[str, int]:
    """A row of a colour."""
    return {"a": 3, "b": 4} if key == "a" else {}[key]


def delete(key: str) -> None:
    raise ValueError(f"no {key}")


def plan(*lines):
    body = textwrap.indent("\n".join(lines), "        ")
    return f"```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n{body}\n```"


WORKS = plan("x = agent.get('a', 'b', colour='red', size=3)", "assert x, agent.report()", "return x")
FAILS = plan("agent.delete('b')", "assert 0, agent.report()")
WRONG = plan("x = agent.get(len('a'))", "assert x")


@pytest.fixture
def recorded(tmp_path):
    """Does a goal, and returns the episode's folder and result."""

    def do(*replies, tools=(get, delete), **options):
        folder = tmp_path / "run"
        model = Replies(*replies)
        result = codeplan.do("look up", tools=list(tools), model=model, out=folder, tries=len(replies), **options)
        return folder, result

    return do


@pytest.mark.parametrize(
    ("replies", "options"),
    [
        ([WORKS], {}),
        ([WORKS], {"verify": lambda value, tools: tools.get("a") == value}),
        ([FAILS, WRONG, WORKS], {"verify": lambda value, tools: "still wrong"}),
        ([FAILS], {"tool_errors": "stop"}),
        ([FAILS, WORKS], {"deny": ["del*"], "ask": ["get"], "approve": lambda call: True}),
    ],
    ids=["claimed", "verified", "refined", "stopped", "approved"],
)
def test_the_trace_alone_repeats_the_episode(recorded, capsys, replies, options):
    folder, result = recorded(*replies, **options)
    assert codeplan.replay(folder) == result
    capsys.readouterr()
    assert main(["replay", str(folder)]) == 0
    shown = capsys.readouterr()
    assert shown.out == f"identical: {len(Trace.read(folder / 'trace.jsonl'))} events\n" and shown.err == ""


def test_many_tools_that_prompts_show_in_a_line_are_described_again(recorded):
    def numbered(n):
        def tool(key: str) -> str:
            return f"{n}{key}"

        tool.__name__, tool.__doc__ = f"tool_{n}", f"Answer {n}.\n\n" + "At length. " * 50
        return tool

    asks = plan("x = agent.describe('tool_90') + agent.tool_90('a')", "assert '90a' in x", "return x")
    folder, result = recorded(asks, tools=[numbered(n) for n in range(100)])
    assert "Answer 90." in result.value
    assert codeplan.replay(folder) == result


def test_an_episode_with_a_server_is_repeated_without_it(recorded, tmp_path):
    server = raw("echo", "die")
    lost = plan("try:", "    agent.die()", "except OSError as e:", "    x = agent.echo()", "assert x", "return x")
    folder, result = recorded(lost, tools=[get], mcp=[server], allow=["*"])
    assert result.value == "{}" and result.actions == 2
    assert codeplan.replay(folder) == result


def edited(folder, change):
    """Rewrite the trace's header."""
    trace = folder / "trace.jsonl"
    first, *rest = trace.read_text().splitlines(keepends=True)
    header = json.loads(first)
    change(header)
    trace.write_text(json.dumps(header) + "\n" + "".join(rest))


HOSTILE = {
    "private": {"name": "_act", "signature": "()"},
    "reserved": {"name": "_report_", "signature": "()"},
    "code": {"name": "a(b)\nimport os", "signature": "()"},
    "parameter": {"name": "get", "signature": "()", "parameters": [{"name": "a b"}]},
    "nameless": {"name": "get", "signature": "()", "parameters": [{"name": ""}]},
    "twice": {"name": "get", "signature": "()", "parameters": [{"name": "a"}, {"name": "a"}]},
    "order": {"name": "get", "signature": "()", "parameters": [{"name": "a", "required": False}, {"name": "b"}]},
    "agent": {"name": "get", "signature": "()", "parameters": [{"name": "_agent_"}]},
}


@pytest.mark.parametrize("method", HOSTILE.values(), ids=HOSTILE)
def test_a_damaged_description_is_refused_in_a_sentence(recorded, capsys, method):
    folder, _ = recorded(WORKS)
    edited(folder, lambda header: header.update(tools=[{"method": method}]))
    capsys.readouterr()
    assert main(["replay", str(folder)]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("codeplan: the trace's header is damaged: its tools: ") and shown.count("\n") == 1


def test_a_goal_that_is_empty_is_refused(recorded):
    folder, _ = recorded(WORKS)
    edited(folder, lambda header: header["task"].update(goal=" "))
    with pytest.raises(UsageError, match="header is damaged: its tools: the goal is empty"):
        codeplan.replay(folder)


def test_other_descriptions_than_the_prompts_had_diverge(recorded):
    folder, _ = recorded(WORKS)
    edited(folder, lambda header: header["tools"][0]["method"].update(doc="Another row."))
    with pytest.raises(Diverged, match=r"Another row\."):
        codeplan.replay(folder)


def test_a_trace_without_descriptions_or_of_a_live_episode_has_no_environment(recorded):
    folder, _ = recorded(WORKS)
    trace = folder / "trace.jsonl"
    trace.write_text("".join(trace.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(UsageError):
        codeplan.resume(folder, model=Replies(WORKS))
    edited(folder, lambda header: header.pop("tools"))
    with pytest.raises(UsageError, match="no environment 'tools'"):
        codeplan.replay(folder)
