"""The options that name an episode's tools, and what is asked on a terminal about their calls."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from codeplan.cli import options
from codeplan.cli.waiting_line import without_line
from codeplan.untrusted.texts import echo, echo_message

if TYPE_CHECKING:
    from codeplan.tools import ToolEnvironment
    from codeplan.types import Result

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
WayOn = Literal["retry", "skip", "stop"]


@dataclass(frozen=True)
class ToolSourceOptions:
    """Where tools come from."""

    tools: Tools = None
    mcp: Mcp = None
    mcp_config: McpConfig = None
    mcp_timeout: McpTimeout = 60.0

    @property
    def name_tools(self) -> bool:
        """Whether the user names any tools."""
        return bool(self.tools or self.mcp or self.mcp_config)

    def arguments(self) -> dict[str, Any]:
        """The fields of ToolSources."""
        return asdict(self) | {"tools": self.tools or (), "mcp": self.mcp or ()}


@dataclass(frozen=True)
class ToolOptions(ToolSourceOptions):
    """What the user names for an episode with tools."""

    verify: Verify = None
    allow: Allow = None
    ask: Ask = None
    deny: Deny = None
    tool_errors: ToolErrors = "plan"

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``codeplan.do`` and ``codeplan.resume``. On a terminal, the user is asked about calls."""
        lists = {name: getattr(self, name) or () for name in ("tools", "mcp", "allow", "ask", "deny")}
        return asdict(self) | lists | {"approve": ask_for_approval if on_terminal() else None}


def on_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_for_approval(tool: str, arguments: Mapping[str, Any], hint: str) -> bool:
    """Ask the user about a call. Anything but yes refuses it."""
    with without_line():
        _show_call("The plan calls", tool, arguments)
        if hint:
            echo_message(f"The server says: {hint}.", err=True)
        return _read_answer("Allow it? [y/N] ") in ("y", "yes")


def ask_about_doubt(tool: str, arguments: Mapping[str, Any]) -> WayOn:
    """Ask the user about a call in doubt. Anything but a way on stops, and nothing changes."""
    with without_line():
        _show_call("The episode was ended during a call, and nobody knows whether it was done:", tool, arguments)
        echo_message("retry: make it again; skip: the plan gets an error in its place; stop: decide later", err=True)
        answer = _read_answer("[retry/skip/STOP] ")
    return cast(WayOn, answer) if answer in ("retry", "skip") else "stop"


def _show_call(words: str, tool: str, arguments: Mapping[str, Any]) -> None:
    from codeplan.tools.call_text import call_text

    shown, is_cut = call_text(tool, arguments)
    echo(f"{words} {shown}", err=True)
    if is_cut:
        echo_message("Some of the arguments are too long to show; … stands for what is left out.", err=True)


def _read_answer(question: str) -> str:
    """Ask in a line. What was typed before the question is discarded: a plan can print one like it."""
    _discard_typed_text()
    echo(question, err=True, end="")
    return sys.stdin.readline().strip().lower()


def _discard_typed_text() -> None:
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        with contextlib.suppress(termios.error, OSError):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


@contextlib.contextmanager
def open_environment(
    env: str | None, sources: ToolSourceOptions, goal: str, folder: Path | None = None
) -> Iterator[str | ToolEnvironment]:
    """The environment of a plan: that of a name, or one made of the tools, whose servers end with the context.

    Raises: UsageError: the user names neither an environment nor tools, or both.
    """
    from codeplan.errors import UsageError
    from codeplan.runner.tool_setup import ToolSources, open_tools

    if (env is None) == (not sources.name_tools):
        forms = "--env ENV, or tools by --tools FILE.py or --mcp COMMAND"
        raise UsageError(f"the plan needs something to act on: {forms}" if env is None else f"give one of {forms}")
    if env is not None:
        yield env
        return
    with open_tools(goal, ToolSources(**sources.arguments()), folder) as tools:
        yield tools


def show_value(result: Result) -> None:
    """Print what the plan returned as JSON, on lines of its own."""
    if result.value is not None:
        options.print_json(result.value)


def tell_unverified(result: Result, sources: ToolOptions) -> None:
    """Say on standard error which option has a claimed result verified."""
    from codeplan.types import Claimed

    if isinstance(result.ending, Claimed) and sources.verify is None:
        echo_message("Nobody decides about the result; --verify FILE.py:FUNCTION names a function that does.", err=True)
