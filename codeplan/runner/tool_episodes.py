"""Reaches a goal with the user's own tools: one episode in an environment made of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from codeplan.budget import Budget
from codeplan.episode.method import Method
from codeplan.errors import UsageError
from codeplan.llm.callable_model import ModelFunction
from codeplan.protocols import LLM
from codeplan.recording.events import EventHandler
from codeplan.runner.new_episodes import run
from codeplan.runner.toolsets import collect_tools, open_toolset, tell_unused
from codeplan.tools.approvals import Approvals, Approver
from codeplan.tools.environment import ToolEnvironment, ToolErrors, require_goal
from codeplan.tools.mcp import DEFAULT_SECONDS, ServerAddress
from codeplan.tools.tool_files import function_of_file
from codeplan.tools.verification import Verdict, Verifier
from codeplan.types import Result
from codeplan.untrusted.values import in_quotes

VERIFY_FORM = "verify(value, tools) -> bool or str"


def do(
    goal: str,
    *,
    tools: object = (),
    mcp: Iterable[str | ServerAddress] = (),
    mcp_config: Path | str | None = None,
    mcp_timeout: float = DEFAULT_SECONDS,
    model: str | LLM | ModelFunction,
    verify: Callable[..., Verdict | Awaitable[Verdict]] | str | None = None,
    approve: Approver | None = None,
    allow: Iterable[str] = (),
    ask: Iterable[str] | None = None,
    deny: Iterable[str] = (),
    tool_errors: ToolErrors = "plan",
    method: str | Method = "adaplanner",
    budget: Budget | None = None,
    out: Path | str | None = None,
    on_event: EventHandler | None = None,
    **settings: Any,
) -> Result:
    """Have plans reach a goal with tools, and return how that ended; ``Result.value`` is what the plan returned.

    Other methods, such as ``react``, make one call at a time; their value is what the model finishes with.

    ``tools`` is a function, an object (its public methods are tools), a module, ``"FILE.py"`` or ``"FILE.py:NAME,…"``,
    or a list of these. ``verify(value, tools)`` decides whether the goal is reached: True, or a text that says what is
    missing; it may also be ``"FILE.py:FUNCTION"``. Without it the episode ends as ``Claimed`` at best.

    ``mcp`` are MCP servers: commands to start, or URLs. ``mcp_config`` is a JSON file of further ones (``mcpServers``).
    They start with the episode and end with it; ``mcp_timeout`` is how many seconds a call may take. Their tools need
    approval unless a pattern in ``allow`` names them.

    ``allow``, ``ask`` and ``deny`` are patterns on the tools' names (see ``codeplan.tools.approvals``). ``approve(tool,
    arguments)`` decides on the calls to be asked for; without it they are refused. With it and without ``ask``, every
    call is asked for. If a tool raises an exception, the
    plan gets it as an error that it can catch, or with ``tool_errors="stop"`` the episode ends. ``verify``, ``approve``
    and the tools may be asynchronous. The rest is as in ``codeplan.run``.

    Raises:
        UsageError: the input is wrong.
        InfrastructureError: the model, a server, the verifier or the sandbox failed. A spent budget is a Result.
    """
    if tool_errors not in ("plan", "stop"):
        raise UsageError(f"tool_errors is plan or stop, not {in_quotes(tool_errors)}")
    if model == "scripted":
        raise UsageError(
            "the scripted stand-in knows codeplan's own environments only; name an endpoint's model: --model NAME"
        )
    own = collect_tools(tools)
    judge = function_of_file(verify, VERIFY_FORM) if isinstance(verify, str) else verify
    verifier = None if judge is None else Verifier(judge)
    approvals = Approvals(allow, ask, deny, approve)
    require_goal(goal)
    folder = Path(out) if out else None
    with open_toolset(own, mcp, mcp_config, mcp_timeout, folder) as toolset:
        tell_unused(approvals, toolset)
        env = ToolEnvironment(goal, toolset, verifier=verifier, approvals=approvals, tool_errors=tool_errors)
        with closing(env):
            return run(env, method=method, model=model, budget=budget, out=out, on_event=on_event, **settings)
