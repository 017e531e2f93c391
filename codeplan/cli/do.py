"""``codeplan do``: reach a goal with the user's own tools."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from codeplan.cli import options, setting_options
from codeplan.cli.episode import Method, RunInterruptedError, make_event_handler
from codeplan.untrusted.terminal import echo

if TYPE_CHECKING:
    from codeplan.types import Result

MAX_SHOWN_ARGUMENT = 1_000
"""What is shown of each argument of a call that needs approval at most, in characters."""

MAX_SHOWN_TEXT = 300
"""What is shown of each text in such an argument at most, in characters."""

Goal = Annotated[str, typer.Argument(metavar="GOAL", help="What is to be done, in a sentence.")]
Tools = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE.py[:NAME,…]", help="Functions and objects of a Python file; repeatable."),
]
Mcp = Annotated[
    list[str] | None, typer.Option(metavar="COMMAND|URL", help="An MCP server to start or to connect to; repeatable.")
]
McpConfig = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A JSON file of MCP servers (mcpServers), as other programs have.")
]
McpTimeout = Annotated[float, typer.Option(metavar="SECONDS", help="How long a call of an MCP server's tool may take.")]
Verify = Annotated[
    str | None, typer.Option(metavar="FILE.py:FUNCTION", help="Decides about the result: verify(value, tools).")
]
Allow = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Make these tools' calls; repeatable.")]
Ask = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Ask before calls of these tools; repeatable.")]
Deny = Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="Refuse calls of these tools; repeatable.")]
ToolErrors = Annotated[
    Literal["plan", "stop"],
    typer.Option(help="A tool's exception is an error that the plan can catch, or it stops the episode."),
]
_SETTINGS = (*setting_options.MODEL_SETTINGS, *setting_options.ROUTE_SETTINGS, "temperature", "tries")


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    with_settings = setting_options.command_class(*_SETTINGS, budget=True)
    example = "Example: codeplan do 'Which file is the largest?' --tools tools.py --model gpt-5"
    app.command("do", cls=with_settings, epilog=example)(do)


def do(
    context: typer.Context,
    goal: Goal,
    tools: Tools = None,
    mcp: Mcp = None,
    mcp_config: McpConfig = None,
    mcp_timeout: McpTimeout = 60.0,
    verify: Verify = None,
    allow: Allow = None,
    ask: Ask = None,
    deny: Deny = None,
    tool_errors: ToolErrors = "plan",
    method: Method = "adaplanner",
    model: options.OwnModel = None,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    out: options.Out = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Reach a goal with your own tools and MCP servers: a model writes plans that call them, in the sandbox.

    With another --method (react, adapt …) the model makes one call at a time instead.

    Calls of an MCP server's tools are asked for on a terminal, and refused elsewhere unless --allow names them.

    Without --verify nobody decides about the result: the episode ends as claimed at best, with exit code 1.

    Exit codes: 0 verified, 1 not solved or only claimed, 2 usage, 3 budget spent, 4 infrastructure, 130 interrupted.
    """
    from codeplan.errors import UsageError
    from codeplan.report.json_output import result_as_json
    from codeplan.runner.tool_episodes import do as do_with_tools
    from codeplan.types import Claimed

    given = options.command_run(context)
    if not (tools or mcp or mcp_config):
        raise UsageError("there are no tools; name a Python file with --tools FILE.py, or an MCP server with --mcp")
    patterns = {"allow": allow or (), "ask": ask or (), "deny": deny or ()}
    approve = _ask_on_terminal if sys.stdin.isatty() and sys.stderr.isatty() else None
    servers = {"mcp": mcp or (), "mcp_config": mcp_config, "mcp_timeout": mcp_timeout}
    new = contextlib.nullcontext(out) if out else options.new_run_folder("do", goal)
    with new as folder:
        show = make_event_handler(as_json, quiet)
        more_options = {"verify": verify, "approve": approve, "tool_errors": tool_errors, "method": method}
        arguments = {**patterns, **servers, **given, **more_options}
        result = _play(lambda: do_with_tools(goal, tools=tools or (), out=folder, on_event=show, **arguments), folder)
    if not as_json:
        _show_value(result)
    if isinstance(result.ending, Claimed) and verify is None:
        echo("Nobody decides about the result; --verify FILE.py:FUNCTION names a function that does.", err=True)
    options.end_episode(result, result_as_json(result) if as_json else None)


def _play(start: Callable[[], Result], folder: Path) -> Result:
    try:
        return start()
    except KeyboardInterrupt:
        raise RunInterruptedError(f"interrupted; the trace so far is in {folder}") from None


def _ask_on_terminal(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Ask the user about a call. Anything but yes refuses it.

    Each argument has room of its own: a long one must not push another out of sight.
    """
    from codeplan.untrusted.values import ValueWriter

    writer = ValueWriter(max_string=MAX_SHOWN_TEXT, marks_repeats=False)
    shown = ", ".join(f"{name}={writer.text(value, MAX_SHOWN_ARGUMENT)}" for name, value in arguments.items())
    echo(f"The plan calls {tool}({shown})", err=True)
    if writer.abbreviated:
        echo("Some of the arguments are too long to show; … stands for what is left out.", err=True)
    _discard_typed_ahead()
    echo("Allow it? [y/N] ", err=True, end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _discard_typed_ahead() -> None:
    """Discard what was typed before the question. A plan can print one like it, and make its call after the answer."""
    import termios

    with contextlib.suppress(termios.error, OSError):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _show_value(result: Result) -> None:
    """Print what the plan returned as JSON, on lines of its own."""
    if result.value is not None:
        options.print_json(result.value)
