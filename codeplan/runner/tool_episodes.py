"""Reaches a goal with the user's own tools: one episode in an environment made of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from codeplan.budget import Budget
from codeplan.episode.method import Method
from codeplan.errors import UsageError
from codeplan.llm.callable_model import ModelFunction
from codeplan.protocols import LLM
from codeplan.recording.events import EventHandler
from codeplan.runner.arguments import require_handler, require_out
from codeplan.runner.new_episodes import run_live
from codeplan.runner.setup import EnvironmentToOpen, EpisodeSetup
from codeplan.runner.tool_setup import ToolSources, open_tools
from codeplan.tools.approvals import Approver
from codeplan.tools.environment import ToolErrors
from codeplan.tools.mcp import DEFAULT_SECONDS, ServerAddress
from codeplan.tools.verification import Verdict
from codeplan.types import Result


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
    if model == "scripted":
        raise UsageError(
            "the scripted stand-in knows codeplan's own environments only; name an endpoint's model (--model NAME), or "
            "a function of yours (--model FILE.py:FUNCTION)"
        )
    if out is not None:
        require_out(out)
    require_handler(on_event)
    sources = ToolSources(
        tools=tools,
        mcp=mcp,
        mcp_config=mcp_config,
        mcp_timeout=mcp_timeout,
        verify=verify,
        approve=approve,
        allow=allow,
        ask=ask,
        deny=deny,
        tool_errors=tool_errors,
    )
    env = EnvironmentToOpen(open_tools(goal, sources, out))
    with EpisodeSetup(env, method, model, settings) as setup:
        (task,) = setup.env.tasks("test")
        return run_live(setup, task, budget, out, on_event)
