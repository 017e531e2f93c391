"""Makes one toolset from the user's functions, objects and files and the MCP servers that the user names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from codeplan.errors import UsageError
from codeplan.tools.approvals import Approvals
from codeplan.tools.doubts import DoubtRules
from codeplan.tools.mcp import (
    FILES_NOTE,
    MAX_RESTARTS,
    MAX_SECONDS,
    McpServers,
    ServerAddress,
    parse_address,
    read_config,
)
from codeplan.tools.python_tools import python_tools
from codeplan.tools.tool import Tool
from codeplan.tools.tool_files import tools_of_file
from codeplan.tools.toolset import DOC, Toolset
from codeplan.untrusted.terminal import echo_message
from codeplan.untrusted.values import in_quotes


def collect_tools(given: object) -> tuple[Tool, ...]:
    """The tools of a function, an object, a module, ``"FILE.py:NAME"``, a Toolset, or a list of these.

    Raises: UsageError: something in it is no tool.
    """
    things: Sequence[object] = given if isinstance(given, list | tuple) else (given,)
    found: list[Tool] = []
    for thing in things:
        if isinstance(thing, Toolset):
            found += thing.tools
        else:
            found += tools_of_file(str(thing)) if isinstance(thing, str | Path) else python_tools(thing)
    return tuple(found)


@contextmanager
def open_toolset(
    own: Sequence[Tool],
    mcp: Iterable[str | ServerAddress],
    mcp_config: Path | str | None,
    mcp_timeout: float,
    folder: Path | None,
    restarts: int = MAX_RESTARTS,
) -> Iterator[Toolset]:
    """The user's ``own`` tools and those of MCP servers, which start on entry and end on exit.

    ``mcp_timeout`` is how long a call of a server's tool may take, in seconds. Files that servers return are kept in
    ``folder``; None keeps none. A server that has ended is started again ``restarts`` times.

    Raises: UsageError: there is no tool, or an address or the file of servers is wrong. EnvironmentFailure: a server
    does not start.
    """
    given = tuple(mcp) if isinstance(mcp, Iterable) and not isinstance(mcp, str | ServerAddress) else (mcp,)
    addresses = [a if isinstance(a, ServerAddress) else parse_address(a) for a in given]
    if not isinstance(mcp_config, str | Path | None):
        raise UsageError(f"mcp_config is the path of a JSON file, not {in_quotes(mcp_config)}")
    addresses += read_config(Path(mcp_config)) if mcp_config is not None else ()
    if not addresses:
        yield Toolset(own)
        return
    if isinstance(mcp_timeout, bool) or not isinstance(mcp_timeout, int | float) or not 0 < mcp_timeout <= MAX_SECONDS:
        raise UsageError(f"mcp_timeout is a number of seconds up to {MAX_SECONDS:,}, not {in_quotes(mcp_timeout)}")
    names, types = [tool.name for tool in own], {t.name: t.text for tool in own for t in tool.types}
    with McpServers(
        addresses, seconds=mcp_timeout, folder=folder, taken=names, taken_types=types, restarts=restarts
    ) as servers:
        yield Toolset((*own, *servers.tools), doc=f"{DOC}\n{FILES_NOTE}")


def tell_unused(rules: Approvals | DoubtRules, toolset: Toolset) -> None:
    """Report patterns that match no tool on standard error, because a misspelt ``deny`` would refuse nothing."""
    for option, pattern in rules.unused(toolset.tools):
        echo_message(f"no tool has a name that fits {option} {in_quotes(pattern)}", err=True)
