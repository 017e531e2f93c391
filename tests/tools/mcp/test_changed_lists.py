"""Servers that change their tools: an episode keeps its own, the next turn of a session has the new ones."""

import textwrap

import pytest
from support.mcp_addresses import raw

import codeplan
from codeplan.errors import AgentError
from codeplan.recording.events import TurnStarted
from codeplan.recording.trace import Trace
from codeplan.tools.mcp import McpServers

SCHEMA = {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}
CHANGING = raw(tools=f"lambda _: {{'tools': [{{'name': n, 'inputSchema': {SCHEMA}}} for n in OFFERED]}}")


def change(servers, *names):
    return next(tool for tool in servers.tools if tool.name == "change").call({"names": list(names)})


def names(servers):
    return [tool.name for tool in servers.tools]


def test_a_call_of_a_tool_that_is_gone_names_it():
    with McpServers([CHANGING], seconds=20) as servers:
        old = servers.tools[1]
        assert old.call({}) == "{}"
        change(servers, "change", "new")
        with pytest.raises(AgentError) as caught:
            old.call({})
        assert (caught.value.error, str(caught.value)) == (
            "ValueError",
            "the MCP server raw does not offer old any more",
        )
        change(servers, "change", "old")
        assert old.call({}) == "{}"


def test_the_tools_stay_until_they_are_refreshed():
    with McpServers([CHANGING], seconds=20, taken=["new"], notify=lambda _: None) as servers:
        assert not servers.refresh()
        change(servers, "change", "new")
        assert names(servers) == ["change", "old"]
        assert servers.refresh() and names(servers) == ["change", "raw_new"]
        change(servers, "change", "new")
        assert not servers.refresh()


def plan(line):
    body = textwrap.indent(line, " " * 8)
    return f"```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n{body}\n```"


class Plans:
    name = "plans"

    def __init__(self, *lines):
        self.lines, self.prompts = list(lines), []

    def __call__(self, messages):
        self.prompts.append("\n".join(m["content"] for m in messages))
        return plan(self.lines.pop(0))


def test_the_next_turn_of_a_session_has_the_new_tools(tmp_path):
    model = Plans("return agent.change(['change', 'new'])", "return agent.new()", "return agent.new()")
    with codeplan.Session(model=model, mcp=[CHANGING], allow=["*"], folder=tmp_path / "s") as session:
        assert session.do("change the tools").value == "changed"
        assert "def new(" not in model.prompts[0]
        assert session.do("use the new one").value == "{}"
        assert "def new(" in model.prompts[1] and "def old(" not in model.prompts[1]
        assert session.do("again").value == "{}"
    turns = [e for e in Trace.read(tmp_path / "s" / "trace.jsonl") if isinstance(e, TurnStarted)]
    assert [tool.method.name for tool in turns[0].tools] == ["change", "new"] and turns[1].tools is None
