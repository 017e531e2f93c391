"""Builds the environment of an episode with tools from the functions, files, servers and patterns that the user
named.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from codeplan.errors import UsageError
from codeplan.recording.events import EpisodeStarted
from codeplan.runner.toolsets import collect_tools, open_toolset, tell_unused
from codeplan.tools.approvals import Approvals, Approver
from codeplan.tools.doubts import DoubtAsker, DoubtRules, WayOn
from codeplan.tools.environment import ToolEnvironment, ToolErrors, require_goal
from codeplan.tools.mcp import DEFAULT_SECONDS, ServerAddress
from codeplan.tools.tool import name_fault
from codeplan.tools.tool_files import function_of_file
from codeplan.tools.verification import Verdict, Verifier
from codeplan.types import AgentTool
from codeplan.untrusted.values import in_quotes

VERIFY_FORM = "verify(value, tools) -> bool or str"

MAX_NAMED_TOOLS = 5
"""Maximum number of missing or different tools that a message names."""


@dataclass(frozen=True)
class ToolSources:
    """The user's arguments for an episode with tools; ``codeplan.do`` and ``codeplan.resume`` explain each field."""

    tools: object = ()
    mcp: Iterable[str | ServerAddress] = ()
    mcp_config: Path | str | None = None
    mcp_timeout: float = DEFAULT_SECONDS
    verify: Callable[..., Verdict | Awaitable[Verdict]] | str | None = None
    approve: Approver | None = None
    allow: Iterable[str] = ()
    ask: Iterable[str] | None = None
    deny: Iterable[str] = ()
    tool_errors: ToolErrors = "plan"
    in_doubt: WayOn | DoubtAsker = "stop"
    idempotent: Iterable[str] = ()

    @property
    def name_tools(self) -> bool:
        """Whether there may be a tool among them."""
        empty = isinstance(self.tools, list | tuple) and not self.tools
        return not empty or bool(self.mcp) or self.mcp_config is not None


def open_tools(goal: str, sources: ToolSources, out: Path | str | None) -> AbstractContextManager[ToolEnvironment]:
    """The environment of the tools. Its servers start when the context is entered, and all ends with the context.

    ``out`` is the episode's folder. Raises: UsageError: the input is wrong. EnvironmentFailure, on entering: a server
    does not start.
    """
    if sources.tool_errors not in ("plan", "stop"):
        raise UsageError(f"tool_errors is plan or stop, not {in_quotes(sources.tool_errors)}")
    try:
        own = collect_tools(sources.tools)
    except UsageError as error:
        if isinstance(goal, str) and not goal.strip():
            error.add_note("also, the goal is empty")
        raise
    verify = sources.verify
    judge = function_of_file(verify, VERIFY_FORM) if isinstance(verify, str) else verify
    verifier = None if judge is None else Verifier(judge)
    approvals = Approvals(sources.allow, sources.ask, sources.deny, sources.approve)
    doubts = DoubtRules(sources.in_doubt, sources.idempotent)
    require_goal(goal)
    folder = Path(out) if out else None

    @contextmanager
    def opening() -> Iterator[ToolEnvironment]:
        with open_toolset(own, sources.mcp, sources.mcp_config, sources.mcp_timeout, folder) as toolset:
            tell_unused(approvals, toolset)
            tell_unused(doubts, toolset)
            env = ToolEnvironment(
                goal, toolset, verifier=verifier, approvals=approvals, doubts=doubts, tool_errors=sources.tool_errors
            )
            with closing(env):
                yield env

    return opening()


def open_recorded_tools(
    header: EpisodeStarted, sources: ToolSources, folder: Path
) -> AbstractContextManager[ToolEnvironment]:
    """The environment in which a recorded episode continues, opened as by ``open_tools``.

    Its tools are those that the user names, never the trace's.

    Raises: UsageError: the user names no tools, or, on entering, others than the episode had.
    """
    if not sources.name_tools:
        names = _named([tool.method.name for tool in header.tools])
        raise UsageError(
            f"the episode has tools, which are never taken from a trace ({names or 'without names'}); name them again, "
            "as for codeplan do: --tools FILE.py, --mcp COMMAND or --mcp-config FILE"
        )
    if header.has_verifier and sources.verify is None:
        raise UsageError(
            "the episode has a verifier, which is never taken from a trace; name it: --verify FILE.py:NAME"
        )
    opening = open_tools(header.task.goal, sources, folder)

    @contextmanager
    def with_same_tools() -> Iterator[ToolEnvironment]:
        with opening as env:
            require_same_tools(header.tools, env.described_tools)
            yield env

    return with_same_tools()


def require_same_tools(recorded: Sequence[AgentTool], given: Sequence[AgentTool]) -> None:
    """Check that a recorded episode continues with its own tools. Raises: UsageError: they differ."""
    if tuple(recorded) == tuple(given):
        return
    was, now = ({tool.method.name: tool for tool in tools} for tools in (recorded, given))
    differences = {
        "missing: ": [name for name in was if name not in now],
        "new: ": [name for name in now if name not in was],
        "with another signature or description: ": [name for name in was if name in now and was[name] != now[name]],
    }
    found = "; ".join(f"{what}{_named(names)}" for what, names in differences.items() if names)
    raise UsageError(
        f"the tools differ from those of the recorded episode ({found or 'they stand in another order'}); name the "
        "same tools in the same order"
    )


def _named(names: Sequence[str]) -> str:
    """The first of the names, and how many more there are."""
    shown = [in_quotes(name) if name_fault(name) else name for name in names[:MAX_NAMED_TOOLS]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
