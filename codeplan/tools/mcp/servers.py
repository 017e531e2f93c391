"""The MCP servers of an episode: starts them together, offers their tools, and ends them together."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from codeplan.budget import seconds_left
from codeplan.cancellation import LoopThread
from codeplan.errors import UsageError
from codeplan.tools.mcp.addresses import ServerAddress, python_name, unique_name, with_unique_names
from codeplan.tools.mcp.connection import MAX_RESTARTS, MAX_TOOLS, ServerConnection, ToolList
from codeplan.tools.mcp.content import FileStore, read_result
from codeplan.tools.mcp.login_store import LoginFile, StoredLogin
from codeplan.tools.mcp.signatures import ArgumentCheck, ToolSignature, TypeTable, UnusableTool, write_signature
from codeplan.tools.tool import Tool, name_fault
from codeplan.untrusted.texts import echo_message, on_terminal, one_line
from codeplan.untrusted.values import in_quotes

MAX_SENTENCE: Final = 1_000
"""Maximum length of the notes about one server's tools, in characters."""

FILES_NOTE: Final = (
    "A tool that is said to return a str returns a dict {'text': str, 'files': list[dict]} if there is more than text, "
    "such as an image; a file has 'mime_type' and some of 'path', 'bytes', 'uri', 'text', 'name'."
)
"""The note for models about results that are not plain text."""

DEFAULT_SECONDS: Final = 60.0
"""How long a call may take, unless the user says otherwise."""

MAX_SECONDS: Final = 86_400.0
"""The longest time that a call may be given."""

MAX_NAMED: Final = 3
"""Maximum number of renamed tools that a sentence names."""


class McpServers:
    """Starts the servers on entry and ends them on exit, whatever happens in between.

    ``tools`` are those of all servers. ``taken`` are names of other tools: a tool whose name is taken carries its
    server's name. ``folder`` is where files that tools return are kept; without one they are not. ``notify`` gets
    sentences for the user about changed and omitted tools. ``restarts`` is how often a server that has ended starts
    again. If they ``may_log_in``, and there is a terminal, the user is asked to log in at a site that wants it.

    Raises: UsageError: the package ``mcp`` is missing, or the servers offer no tool.
    EnvironmentFailure: a server does not start.
    """

    def __init__(
        self,
        addresses: Iterable[ServerAddress],
        *,
        seconds: float = DEFAULT_SECONDS,
        folder: Path | None = None,
        taken: Collection[str] = (),
        taken_types: Mapping[str, str] | None = None,
        notify: Callable[[str], None] | None = None,
        restarts: int = MAX_RESTARTS,
        may_log_in: bool = False,
    ) -> None:
        require_package()
        self._may_log_in = may_log_in and on_terminal()
        self.tools: tuple[Tool, ...] = ()
        self.on_change: Callable[[], None] = lambda: None
        """Called in the servers' event loop when a server's tools may have changed; ``refresh`` takes them over."""
        named = with_unique_names(addresses)
        self._connections = [ServerConnection(a, seconds, restarts, lambda: self.on_change()) for a in named]
        self._store = FileStore(folder)
        self._given_names, self._given_types = frozenset(taken), dict(taken_types or {})
        self._taken, self._table = set(taken), TypeTable(taken_types)
        self._listed: list[ToolList] = []
        self._notify = notify or _to_standard_error
        self._loop = LoopThread()

    def __enter__(self) -> McpServers:
        try:
            self._listed = self._loop.run(self._open())
            self.tools = tuple(self._build(self._listed))
            if not self.tools:
                raise UsageError("the MCP servers offer no tool that can be used")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def refresh(self) -> bool:
        """Take over what servers offer now, if one has said that its tools have changed, or was started again with
        others. Tools that are in use stay as they are. Returns whether ``tools`` are others now.

        Raises: EnvironmentFailure: a list is too large.
        """
        self._loop.run(self._list_again())
        listed = [connection.listed for connection in self._connections]
        if all(new is old or new.tools == old.tools for new, old in zip(listed, self._listed, strict=True)):
            return False
        self._listed = listed
        self._taken, self._table = set(self._given_names), TypeTable(self._given_types)
        self.tools = tuple(self._build(listed))
        return True

    def close(self) -> None:
        """End all servers; kill them if this is interrupted. Safe to call twice."""
        try:
            self._loop.run(self._close())
        finally:
            for connection in self._connections:
                connection.kill()
            self._loop.close()

    async def _open(self) -> list[ToolList]:
        """All servers' tools. They start at the same time; if one fails, the first failure is raised."""
        opening = (c.open(may_log_in=self._may_log_in) for c in self._connections)
        found = await asyncio.gather(*opening, return_exceptions=True)
        for outcome in found:
            if isinstance(outcome, BaseException):
                raise outcome
        return [outcome for outcome in found if not isinstance(outcome, BaseException)]

    async def _list_again(self) -> None:
        await asyncio.gather(*(c.list_again() for c in self._connections))

    async def _close(self) -> None:
        await asyncio.gather(*(c.close() for c in self._connections), return_exceptions=True)

    def _build(self, listed: list[ToolList]) -> list[Tool]:
        self._report_count(listed)
        for connection, part in zip(self._connections, listed, strict=True):
            for reason in part.unusable[:MAX_NAMED]:
                self._notify(f"a tool of the MCP server {connection.address.name} is left out: {reason}")
            if not part.count and not part.unusable:
                self._notify(f"the MCP server {connection.address.name} offers no tools")
        found = [(c, tool) for c, part in zip(self._connections, listed, strict=True) for tool in part.tools]
        named = [(c, tool, python_name(tool.name, "tool")) for c, tool in found[:MAX_TOOLS]]
        uses = Counter(name for _, _, name in named)
        taken = {*self._taken, *uses}
        tools = []
        changed: dict[str, list[str]] = {}
        for connection, tool, name in named:
            if name_fault(name) or name in self._taken or uses[name] > 1:
                name = unique_name(f"{connection.address.name}_{name}", taken)
            self._taken.add(name)
            taken.add(name)
            if name != tool.name:
                changed.setdefault(connection.address.name, []).append(f"{in_quotes(tool.name, 60)} is {name}")
            if built := self._tool(connection, tool, name):
                tools.append(built)
        self._report_names(changed)
        return tools

    def _report_count(self, listed: list[ToolList]) -> None:
        count = sum(part.count for part in listed)
        if count > MAX_TOOLS:
            more = "more than " if any(part.has_more for part in listed) else ""
            self._notify(f"the MCP servers offer {more}{count:,} tools; the first {MAX_TOOLS:,} are used")

    def _report_names(self, changed: Mapping[str, list[str]]) -> None:
        for server, names in changed.items():
            more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
            shown = ", ".join(names[:MAX_NAMED])
            self._notify(f"tools of the MCP server {server} have other names here: {shown}{more}")

    def _tool(self, connection: ServerConnection, tool: Any, name: str) -> Tool | None:
        """The tool, or None if it cannot be used. Notes tell the user what is changed or left out."""
        server = connection.address.name
        try:
            require_calls(tool)
            hint = read_hints(tool.annotations)
            described = write_signature(
                name, _description(tool, hint), tool.input_schema, tool.output_schema, self._table
            )
        except UnusableTool as reason:
            self._notify(f"the tool {name} of the MCP server {server} is left out: {reason}")
            return None
        call = _ServerCall(connection, self._loop, tool.name, described, tool.input_schema, self._store)
        return Tool(
            described.method,
            call,
            described.types,
            approval="ask",
            hint=hint,
            prepare=call.prepare,
            keeps_deadline=True,
            is_asynchronous=True,
        )


class _ServerCall:
    """Calls a server's tool with checked arguments."""

    def __init__(
        self,
        connection: ServerConnection,
        loop: LoopThread,
        wire_name: str,
        signature: ToolSignature,
        schema: Any,
        store: FileStore,
    ) -> None:
        self._connection, self._loop, self._wire_name = connection, loop, wire_name
        self._signature, self._check, self._store = signature, ArgumentCheck(schema), store

    def prepare(self) -> None:
        """Start the server again if it has ended. Raises: EnvironmentFailure: it cannot be started again.
        DeadlinePassed.
        """
        if self._connection.is_lost:
            self._loop.run(self._connection.require_open(), seconds_left())

    def __call__(self, arguments: Mapping[str, Any]) -> object:
        name = self._signature.method.name
        given = self._signature.wire_arguments(arguments)
        self._check.require_valid(name, given)
        result = self._loop.run(self._connection.call(name, self._wire_name, given), seconds_left())
        return read_result(name, result, wrapper=self._signature.wrapper, store=self._store)


def _description(tool: Any, hint: str) -> str:
    """The server's description, and its hints in words."""
    said = (tool.description or tool.title or "").strip()
    return "\n".join(part for part in (said, f"The server says: {hint}." if hint else "") if part)


def require_calls(tool: Any) -> None:
    """Raises: UnusableTool: the tool takes no plain calls."""
    if tool.execution is not None and tool.execution.task_support == "required":
        raise UnusableTool("it can be called only as a task of the protocol, which codeplan does not offer")


def read_hints(annotations: Any) -> str:
    """A server's hints about a tool's effects, in codeplan's words; empty if there are no useful ones.

    By the protocol, the hints about destroying and repeating have a meaning only for tools that are not read-only.
    """
    said = {name: getattr(annotations, f"{name}_hint", None) for name in ("read_only", "destructive", "idempotent")}
    reaches = ["reaches other systems"] if getattr(annotations, "open_world_hint", None) is True else []
    if said["read_only"] is True:
        return ", ".join(["read-only", *reaches])
    effect = ["destructive"] if said["destructive"] is True else []
    effect += ["not destructive"] if said["destructive"] is False else []
    return ", ".join([*effect, *(["idempotent"] if said["idempotent"] is True else []), *reaches])


def log_in(address: ServerAddress, client_id: str | None = None, client_secret: str | None = None) -> int:
    """Have the user log in at a site, and return how many tools it offers then. A login that is valid stays, unless
    there is a ``client_id``: that of a registration that the user made at the authorization server.

    Raises: UsageError: the server takes no login, or the package ``mcp`` is missing. EnvironmentFailure: the login
    failed, or the site cannot be used.
    """
    require_package()
    if not address.url:
        raise UsageError(f"the MCP server {address.name} is a program; only sites take a login")
    from codeplan.tools.mcp.logins import login_of

    if login_of(address) is None:
        raise UsageError(f"the MCP server {address.name} gets the credentials that you give; leave them out to log in")
    if client_id:
        client = {"client_id": client_id} | ({"client_secret": client_secret} if client_secret else {})
        LoginFile(address.url).write(StoredLogin(client=client, is_client_given=True))
    connection, loop = ServerConnection(address, DEFAULT_SECONDS), LoopThread()
    try:
        return loop.run(connection.open(may_log_in=True)).count
    finally:
        loop.run(connection.close())
        loop.close()


def require_package() -> None:
    """Raises: UsageError: the package ``mcp`` is not installed."""
    if importlib.util.find_spec("mcp") is None:
        raise UsageError("MCP servers need the package mcp; install it: pip install 'codeplan[mcp]'")
    for name in ("mcp", "client"):  # codeplan reports a server's faults itself; the package would also print tracebacks
        logging.getLogger(name).addHandler(logging.NullHandler())


def _to_standard_error(sentence: str) -> None:
    echo_message(one_line(sentence, MAX_SENTENCE), err=True)
