"""``codeplan mcp``: an MCP server that runs plans over the user's own tools and MCP servers."""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeplan.cli import options
from codeplan.cli.tool_options import Allow, Ask, Deny, Mcp, McpConfig, McpTimeout, ToolErrors, Tools
from codeplan.untrusted.texts import echo, echo_message, one_line

if TYPE_CHECKING:
    from codeplan.mcp_server.plan_runner import RunnerSettings, ToolPlanRunner

MAX_SERVER_RESTARTS = 1_000
"""How often an MCP server that has ended is started again: this server lives for days."""

Http = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="Serve streamable HTTP there, such as 127.0.0.1:8000, in place of stdio."),
]
Library = Annotated[
    Path | None, typer.Option(metavar="DIR", help="A skill library, which clients search with find_skills.")
]


@dataclass(frozen=True)
class ServedTools:
    """The tools that plans may call."""

    tools: Tools = None
    mcp: Mcp = None
    mcp_config: McpConfig = None
    mcp_timeout: McpTimeout = 60.0


@dataclass(frozen=True)
class RunOptions:
    """What holds for each run of a plan."""

    allow: Allow = None
    ask: Ask = None
    deny: Deny = None
    tool_errors: ToolErrors = "plan"
    plan_seconds: Annotated[
        float, typer.Option(min=0.1, max=3600, metavar="S", help="Seconds that a plan may run, without its calls.")
    ] = 5.0
    max_calls: Annotated[int, typer.Option(min=0, max=1_000_000, metavar="N", help="Calls of tools in a run.")] = 500
    max_printed: Annotated[
        int, typer.Option(min=0, max=10_000_000, metavar="N", help="Characters that a run may print.")
    ] = 64_000
    max_seconds: Annotated[
        float | None, typer.Option(min=0, metavar="S", help="Seconds of a run in all; after them no call begins.")
    ] = None
    allow_weak_sandbox: options.AllowWeak = False


@dataclass(frozen=True)
class KeepingOptions:
    """Where the runs stand, and how many."""

    runs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the runs' traces there; without it they go when the server ends."),
    ] = None
    keep: Annotated[int, typer.Option(min=1, max=50_000, metavar="N", help="Runs to keep; the oldest go first.")] = (
        1_000
    )
    at_once: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Plans that run at a time.")] = 4


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    example = "Example: codeplan mcp --tools tools.py --mcp 'npx -y @modelcontextprotocol/server-filesystem docs'"
    app.command("mcp", epilog=example)(options.with_groups(serve))


def serve(
    given: ServedTools, each: RunOptions, kept: KeepingOptions, http: Http = None, library: Library = None
) -> None:
    """Serve plans to an MCP client: it checks, runs and resumes them, in place of calling your tools one by one.

    The client's model writes plans. They call the tools of --tools and --mcp in the sandbox, and each run leaves a
    trace. The server offers describe_tools, check_plan, run_plan and resume_plan, and find_skills with --library.

    Calls that need approval are put to the client's user, if the client can ask, and refused otherwise: the calls of
    MCP servers' tools unless --allow names them, and those that --ask names.

    Exit codes: 0 the client has left, or the server was interrupted; 2 usage, 4 infrastructure.
    """
    from codeplan.errors import UsageError
    from codeplan.mcp_server.serving import serve as serve_plans
    from codeplan.mcp_server.stdio import claim_standard_streams
    from codeplan.mcp_server.web import parse_http_address
    from codeplan.skills.selection import open_store
    from codeplan.tools.mcp.servers import require_package

    if not (given.tools or given.mcp or given.mcp_config):
        raise UsageError("there are no tools; name a Python file with --tools FILE.py, or an MCP server with --mcp")
    require_package()
    importlib.import_module("mcp.server")  # before Python looks for modules in the folders of tools as well
    settings = _settings(each)
    address = parse_http_address(http) if http is not None else None
    if address is None and sys.stdin.isatty():
        idle = "an MCP client starts this command and talks to it; there is nothing to type (Ctrl-C ends it)"
        echo_message(idle, err=True)
    with ExitStack() as stack:
        where = address or stack.enter_context(claim_standard_streams())
        skills = open_store(library)
        runner = stack.enter_context(_open_runner(given, settings, kept))
        if address and not address.is_loopback:
            anyone = f"anyone who reaches {address.name} can run plans with these tools"
            echo_message(f"{anyone}; there is no login", err=True)
        serve_plans(runner, skills, kept.at_once, where, echo)


@contextmanager
def _open_runner(given: ServedTools, settings: RunnerSettings, kept: KeepingOptions) -> Iterator[ToolPlanRunner]:
    """The tools, and what runs plans with them. Without a folder for the runs, they go at the end."""
    from codeplan.mcp_server.plan_runner import ToolPlanRunner
    from codeplan.mcp_server.run_folders import RunFolders
    from codeplan.runner.toolsets import collect_tools, open_toolset, tell_unused

    with ExitStack() as stack:
        root = _existing(kept.runs) or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="codeplan-mcp-")))
        own = collect_tools(given.tools or [])
        servers = (given.mcp or (), given.mcp_config, given.mcp_timeout)
        toolset = stack.enter_context(open_toolset(own, *servers, root, restarts=MAX_SERVER_RESTARTS))
        runner = stack.enter_context(closing(ToolPlanRunner(toolset, RunFolders(root, kept.keep), settings)))
        tell_unused(runner.approvals(None), toolset)
        yield runner


def _existing(runs: Path | None) -> Path | None:
    """The folder for the runs, made if it is not there. Raises: UsageError: it cannot be made."""
    from codeplan.errors import UsageError

    try:
        if runs is not None:
            runs.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise UsageError(f"--runs cannot use {one_line(str(runs), 400)}: {e.strerror}") from None
    return runs


def _settings(each: RunOptions) -> RunnerSettings:
    from codeplan.budget import Budget
    from codeplan.mcp_server.plan_runner import RunnerSettings
    from codeplan.sandbox import Limits

    limits = Limits()
    return RunnerSettings(
        limits=Limits(
            wall=each.plan_seconds,
            cpu=each.plan_seconds * limits.cpu / limits.wall,
            calls=each.max_calls,
            output=each.max_printed,
        ),
        budget=Budget(seconds=each.max_seconds),
        allow=tuple(each.allow or ()),
        ask=tuple(each.ask or ()),
        deny=tuple(each.deny or ()),
        tool_errors=each.tool_errors,
        allow_weak_sandbox=each.allow_weak_sandbox,
    )
