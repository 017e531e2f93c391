"""How long a server's tool may take: its limit, progress that extends it, and a budget of seconds."""

import time

from support.mcp_addresses import raw

from codeplan.budget import deadline_in
from codeplan.tools import ToolEnvironment, Toolset
from codeplan.tools.approvals import Approvals
from codeplan.tools.environment import CallRules
from codeplan.tools.mcp import McpServers
from codeplan.types import Answer, Call

UNKNOWN = "; whether it was done is unknown"


def call(name, seconds, arguments=None):
    schema = {"type": "object", "properties": {"reports": {"type": "integer"}}}
    tools = repr([{"name": name, "inputSchema": schema}])
    with McpServers([raw(tools=tools)], seconds=seconds, notify=lambda _: None) as servers:
        env = ToolEnvironment("try it", Toolset(servers.tools), rules=CallRules(Approvals(allow=["*"])))
        return env.call(1, Call(name, arguments or {}), lambda event: None)


def test_progress_extends_the_limit_of_a_call():
    assert call("progress", 1.5, {"reports": 25}) == Answer("done")


def test_progress_extends_a_limit_up_to_a_maximum():
    why = "progress did not answer within 5 s, the most that progress can give it"
    assert call("progress", 0.5, {"reports": 300}) == Answer(error="TimeoutError", message=why + UNKNOWN, in_doubt=True)


def test_a_call_past_its_limit_and_one_whose_server_ends_are_in_doubt():
    late = Answer(error="TimeoutError", message=f"silent did not answer within 0.5 s{UNKNOWN}", in_doubt=True)
    assert call("silent", 0.5) == late
    lost = call("die", 30)
    assert (lost.error, lost.in_doubt) == ("ConnectionError", True)


def test_a_budget_of_seconds_ends_a_servers_call():
    began = time.monotonic()
    with McpServers([raw("silent")], seconds=60, notify=lambda _: None) as servers:
        env = ToolEnvironment("try it", Toolset(servers.tools), rules=CallRules(Approvals(allow=["*"])))
        with deadline_in(0.5):
            answer = env.call(1, Call("silent", {}), lambda event: None)
    assert answer.in_doubt and "that the budget of seconds left" in answer.message
    assert time.monotonic() - began < 30
