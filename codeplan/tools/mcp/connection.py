"""One connection to a server: it is opened, watched, opened again if no call is in doubt, and always ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

from codeplan.errors import AgentError, EnvironmentFailure
from codeplan.tools.failures import DoubtfulCall
from codeplan.tools.mcp.addresses import ServerAddress
from codeplan.tools.mcp.content import NO_WORDS
from codeplan.tools.mcp.http_answers import CURRENT_REPORT, HttpReport
from codeplan.tools.mcp.login_store import login_command
from codeplan.tools.mcp.messages import MAX_MESSAGE_BYTES, MAX_MESSAGE_VALUES, FloodError
from codeplan.tools.mcp.transports import ServerProgram, ServerSite
from codeplan.untrusted.texts import one_line
from codeplan.version import VERSION

if TYPE_CHECKING:
    from mcp import Client, MCPError
    from mcp_types import CallToolResult, ListToolsResult
    from pydantic import TypeAdapter

    from codeplan.tools.mcp.logins import SiteLogin

START_SECONDS: Final = 60.0
"""How long a server may take to start and to list its tools: a package may have to be downloaded first."""

MAX_RESTARTS: Final = 1
"""How often a server that has ended is started again in one episode."""

MAX_TOOLS: Final = 2_000
"""Maximum number of tools of all servers."""

MAX_PAGES: Final = 100
"""Maximum number of parts of a list of tools."""

MAX_EXTENSION: Final = 10
"""How many times its limit a call may take at most, if its server reports progress."""

_MAX_REASON_CHARS: Final = 300
_END_SECONDS: Final = 10.0


class ServerConnection:
    """A server in the event loop of its tools. Its coroutines run in that loop; ``kill`` runs anywhere.

    ``seconds`` is how long a call may take. Each report of its progress gives it as long again, up to MAX_EXTENSION
    times that in all. ``restarts`` is how often the server is started again if it has ended. ``on_change`` is called
    in the event loop when its tools may have changed.
    """

    def __init__(
        self,
        address: ServerAddress,
        seconds: float,
        restarts: int = MAX_RESTARTS,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.address = address
        self._on_change = on_change
        self._seconds = seconds
        self._restarts_left = restarts
        self._is_sse = address.is_sse
        self._login = _login_of(address)
        self._transport: ServerProgram | ServerSite = self._new_transport()
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self.listed = ToolList()
        """The tools that the server offers now."""
        self._opening = asyncio.Lock()  # several runs of plans may find the server lost at the same time

    async def open(self, *, may_log_in: bool = False) -> ToolList:
        """Start the server, and list its tools. A site that knows no streamable HTTP is tried by the old transport.

        If it ``may_log_in``, the user is asked to log in at a site that wants it.

        Raises: EnvironmentFailure: it does not start, or answers nonsense.
        """
        login = self._login
        if login is not None:
            login.may_ask = may_log_in
        report = self._new_report()
        try:
            return await self._open(report)
        except EnvironmentFailure as failure:
            if self._is_sse or report.status not in (404, 405):
                raise
            self._is_sse = True
            try:
                return await self._open(self._new_report())
            except EnvironmentFailure:
                self._is_sse = False
                raise failure from None
        finally:
            if login is not None:
                login.may_ask = False

    def _new_report(self) -> HttpReport:
        command = login_command(self.address.name, self.address.url) if self._login else ""
        return HttpReport(login_command=command)

    async def _open(self, report: HttpReport) -> ToolList:
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self._transport = self._new_transport()
        before = CURRENT_REPORT.set(report)
        self._task = asyncio.ensure_future(self._hold(ready))
        try:
            async with asyncio.timeout(START_SECONDS) as limit:
                if self._login is not None:
                    self._login.give_time = lambda seconds: _give_time(limit, seconds)
                await ready
                self.listed = await self._list_tools()
                return self.listed
        except EnvironmentFailure:
            await self.close()
            raise
        except TimeoutError:
            failure = self._failure(f"does not answer within {START_SECONDS:g} s{self._stray_answer}")
        except Exception as error:  # the official client raises many types of exceptions for a server's answers
            failure = self._failure(self._transport.fault or self._unusable(error, report))
        finally:
            CURRENT_REPORT.reset(before)
        await self.close()
        raise failure

    async def call(self, tool: str, wire_name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool; ``tool`` is its name for the plan. If it is certain that the call was not done, because the site
        has forgotten the session or could not be reached, it is made once more.

        Raises: AgentError: the server refuses the call. DoubtfulCall: it does not answer in time, or ended during the
        call. EnvironmentFailure: it has ended, and cannot be started again.
        """
        report = self._new_report()
        for _ in range(2):
            report = self._new_report()
            await self.require_open()
            await self.list_again()
            if self.listed.is_without(wire_name):
                raise AgentError(f"the MCP server {self.address.name} does not offer {tool} any more", "ValueError")
            CURRENT_REPORT.set(report)
            try:
                return await self._call_once(tool, wire_name, arguments, report)
            except AgentError:
                if not report.is_not_done:
                    raise
        why = self._transport.fault if report.has_lost_session else "cannot be reached"
        raise AgentError(f"the MCP server {self.address.name} {why or 'ended'} again; {tool} was not done")

    async def _call_once(
        self, tool: str, wire_name: str, arguments: dict[str, Any], report: HttpReport
    ) -> CallToolResult:
        from mcp import MCPError

        transport = self._transport  # that of this call, even if another call replaces a lost one
        limit = _CallLimit(self._seconds)
        try:
            async with limit.timeout:
                return await self._request(wire_name, arguments, limit.extend)
        except TimeoutError:
            raise self._no_answer(tool, limit) from None
        except MCPError as error:
            if report.is_error or report.is_in_doubt:
                raise _refused_by_status(tool, report) from None
            if transport.is_over or self.is_lost:
                raise self._lost(tool, transport) from None
            raise _refused(tool, error) from None
        except _InputWanted:
            raise AgentError(f"{tool} asks for input before it goes on, and codeplan gives servers none") from None
        except ValueError as error:  # pydantic's too
            said = f"{tool} answered what the protocol does not allow: {_reason(error)}"
            raise DoubtfulCall(f"{said}; whether it was done is unknown", "ValueError") from None

    async def list_again(self) -> None:
        """List the tools again if the server says that they have changed. A list that does not come changes nothing.

        Raises: EnvironmentFailure: it is too large.
        """
        from mcp import MCPError

        gate = self._transport.gate
        if gate.has_changed_list and not self.is_lost:
            gate.has_changed_list = False
            with contextlib.suppress(MCPError, TimeoutError, ValueError):
                async with asyncio.timeout(self._seconds):
                    self.listed = await self._list_tools()

    async def close(self) -> None:
        """End the server. Safe to call twice."""
        task, self._task = self._task, None
        if task is None:
            return
        self._stop.set()
        done, _ = await asyncio.wait([task], timeout=_END_SECONDS)
        if not done:
            task.cancel()
            await asyncio.wait([task], timeout=_END_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill the server's process at once, if it has one."""
        self._transport.kill()

    @property
    def is_lost(self) -> bool:
        """Whether the server has ended, or its connection."""
        return self._transport.is_over or self._task is None or self._task.done()

    async def require_open(self) -> None:
        """Start the server again if it has ended since the last call: no call is in doubt. A session that a site has
        forgotten does not count as its end.

        Raises: EnvironmentFailure: it has ended too often, or does not start.
        """
        async with self._opening:
            if not self.is_lost:
                return
            if not self._transport.has_lost_session:
                if not self._restarts_left:
                    raise self._failure(f"{self._transport.fault or 'ended'} again")
                self._restarts_left -= 1
            await self.close()
            await self.open()
            self._on_change()

    async def _hold(self, ready: asyncio.Future[None]) -> None:
        """Keep the connection open until ``close``. It must be opened and closed by one task."""
        from mcp import Client
        from mcp_types import Implementation

        info = Implementation(name="codeplan", version=VERSION)
        try:
            transport = self._transport.connect()
            async with Client(transport, client_info=info, read_timeout_seconds=self._seconds) as client:
                self._client = client
                ready.set_result(None)
                await self._stop.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(_first(error))
            elif not isinstance(error, Exception | BaseExceptionGroup):
                raise
        finally:
            self._client = None

    async def _list_tools(self) -> ToolList:
        from mcp import MCPError
        from mcp_types import METHOD_NOT_FOUND

        found = ToolList()
        cursor = None
        try:
            while True:
                page = await self._page(cursor)
                if (cursor := found.add(page, self._transport.gate.left_out)) is None:
                    break
        except FloodError as flood:
            raise self._failure(str(flood)) from None
        except MCPError as error:  # a server of prompts, for example
            report = CURRENT_REPORT.get() or HttpReport()
            if error.code != METHOD_NOT_FOUND or found.count or report.is_error:
                raise
        return found

    async def _page(self, cursor: str | None) -> ListToolsResult:
        from mcp_types import PaginatedRequestParams

        assert self._client is not None
        return await self._client.session.list_tools(params=PaginatedRequestParams(cursor=cursor))

    async def _request(self, name: str, arguments: dict[str, Any], on_progress: Callable[..., Any]) -> CallToolResult:
        """Send the call. The session's own ``call_tool`` would check the result by the server's regular expressions."""
        from mcp_types import CallToolRequest, CallToolRequestParams

        assert self._client is not None
        request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
        longest = 2 * MAX_EXTENSION * self._seconds  # never reached: the call has a limit of its own
        return await self._client.session.send_request(
            request, _result_type(), request_read_timeout_seconds=longest, progress_callback=on_progress
        )

    def _new_transport(self) -> ServerProgram | ServerSite:
        made: ServerProgram | ServerSite = (
            ServerProgram(self.address)
            if self.address.command
            else ServerSite(self.address, self._seconds, is_sse=self._is_sse, login=self._login)
        )
        made.gate.on_changed_list = self._on_change
        return made

    def _no_answer(self, tool: str, limit: _CallLimit) -> DoubtfulCall:
        said = f"{tool} did not answer {limit.text}{self._stray_answer}; whether it was done is unknown"
        return DoubtfulCall(said, "TimeoutError")

    def _lost(self, tool: str, transport: ServerProgram | ServerSite) -> DoubtfulCall:
        return DoubtfulCall(
            f"the MCP server {self.address.name} {transport.fault or 'ended'} during {tool}"
            f"{_in_brackets(transport.last_words)}; whether it was done is unknown",
            "ConnectionError",
        )

    def _unusable(self, error: Exception, report: HttpReport) -> str:
        """Why the server cannot be used, in words that follow its name."""
        if report.is_error:
            return f"cannot be used: {report.sentence(opening=not self._is_sse)}"
        from httpx2 import ConnectError, TimeoutException
        from mcp import MCPError
        from mcp_types import REQUEST_TIMEOUT

        found = _first(error)
        if isinstance(found, TimeoutException) or (isinstance(found, MCPError) and found.code == REQUEST_TIMEOUT):
            return f"does not answer in time{self._stray_answer}"
        if self.address.url and isinstance(found, ConnectError):
            place = one_line(urlsplit(self.address.url).netloc.rpartition("@")[2], _MAX_REASON_CHARS)
            return f"cannot be reached at {place}: {_reason(error)}; is it running, and is its URL right?"
        return f"cannot be used: {_reason(error)}"

    def _failure(self, what: str) -> EnvironmentFailure:
        advice = "; to see why, run its command in a terminal" if self._transport.has_exited else ""
        return EnvironmentFailure(
            f"the MCP server {self.address.name} {what}{_in_brackets(self._transport.last_words)}{advice}"
        )

    @property
    def _stray_answer(self) -> str:
        stray = self._transport.stray_answer
        return stray and f", and the server {stray}"


def _login_of(address: ServerAddress) -> SiteLogin | None:
    """The user's login at a site; None if the server is a program, or the user gives credentials of another kind."""
    if not address.url:
        return None
    from codeplan.tools.mcp.logins import login_of

    return login_of(address)


def _give_time(limit: asyncio.Timeout, seconds: float) -> None:
    """Let what is limited take so much longer from now."""
    with contextlib.suppress(RuntimeError):  # it has ended meanwhile
        limit.reschedule(asyncio.get_running_loop().time() + seconds)


class _CallLimit:
    """The limit of one call, which its server's reports of progress extend. Made in the call's event loop."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._loop = seconds, asyncio.get_running_loop()
        self._end = self._loop.time() + MAX_EXTENSION * seconds
        self.timeout = asyncio.timeout(seconds)
        self._is_extended = False

    async def extend(self, *_: object) -> None:
        """The server reports progress."""
        _give_time(self.timeout, min(self._seconds, self._end - self._loop.time()))
        self._is_extended = True

    @property
    def text(self) -> str:
        """The limit that was reached, in words that follow "did not answer"."""
        if not self._is_extended:
            return f"within {self._seconds:g} s"
        if self._loop.time() >= self._end:
            return f"within {MAX_EXTENSION * self._seconds:g} s, the most that progress can give it"
        return f"within {self._seconds:g} s after its last progress"


class ToolList:
    """The tools of one server. The first MAX_TOOLS are kept.

    The parts before the last one may together be as large as one message. The last one is a message, with its limits.
    """

    def __init__(self) -> None:
        self.tools: list[Any] = []
        self.count = 0
        """The number of tools in the parts that were read."""
        self.has_more = False
        """Whether the server has further parts, which nothing reads: there are too many tools already."""
        self.unusable: list[str] = []
        """The tools that break the protocol, each with the reason."""
        self._cursors: set[str] = set()
        self._names: set[str] = set()
        self._pages = self._characters = self._values = 0

    def add(self, page: Any, left_out: Sequence[str] = ()) -> str | None:
        """Keep a part's tools. Returns the cursor of the next part; None if no other is to be read.

        ``left_out`` are those that it lost because they break the protocol, each with the reason.

        Raises: FloodError: there are too many parts, or they are too large together.
        """
        new = []
        for tool in page.tools:  # a name means one tool, and some servers list one twice
            if tool.name not in self._names:
                self._names.add(tool.name)
                new.append(tool)
        self.tools += new[: MAX_TOOLS - self.count] if self.count < MAX_TOOLS else []
        self.count += len(new)
        self._pages += 1
        self.unusable += left_out[: MAX_TOOLS - len(self.unusable)]
        cursor: str | None = page.next_cursor
        if cursor is None or cursor in self._cursors or (page.tools and not new):  # the same part again
            return None
        self._cursors.add(cursor)
        if self.count > MAX_TOOLS:
            self.has_more = True
            return None
        if self._pages >= MAX_PAGES:
            raise FloodError(f"lists its tools in more than {MAX_PAGES} parts")
        self._weigh(page.tools)
        if self._characters > MAX_MESSAGE_BYTES or self._values > MAX_MESSAGE_VALUES:
            most = f"{MAX_MESSAGE_BYTES >> 20} MiB or {MAX_MESSAGE_VALUES:,} JSON values"
            raise FloodError(f"sent a list of tools of more than {most}")
        return cursor

    def is_without(self, name: str) -> bool:
        """Whether the server does not offer the tool. Of a list that is cut off, nobody knows."""
        return self.count <= MAX_TOOLS and all(tool.name != name for tool in self.tools)

    def _weigh(self, tools: list[Any]) -> None:
        """Count the values and characters in tools, without recursion: their schemas may be nested deeply."""
        rest: list[Any] = list(tools)
        while rest:
            value = rest.pop()
            self._values += 1
            if isinstance(value, str):
                self._characters += len(value)
            elif isinstance(value, list):
                rest += value
            elif fields := value if isinstance(value, dict) else getattr(value, "__dict__", None):
                self._characters += sum(map(len, fields))
                rest += (part for part in fields.values() if part is not None)


def _refused(tool: str, error: MCPError) -> AgentError:
    """The error of a call that the server answered with one.

    CONNECTION_CLOSED is also the official client's word for an answer that a site cut off, and PARSE_ERROR for one that
    cannot be read: it may be a result.
    """
    from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND, PARSE_ERROR

    said = ": ".join(filter(None, (_said(error, 2 * _MAX_REASON_CHARS), _details(error)))) or NO_WORDS
    if error.code in (CONNECTION_CLOSED, PARSE_ERROR):
        return DoubtfulCall(f"{tool} failed: {said}; whether it was done is unknown", "ConnectionError")
    kind = "ValueError" if error.code in (INVALID_PARAMS, METHOD_NOT_FOUND) else "RuntimeError"
    return AgentError(f"{tool} failed: {said}", kind)


def _refused_by_status(tool: str, report: HttpReport) -> AgentError:
    """The error of a call that a site answered with an error of HTTP, or with something that is no answer."""
    said = f"{tool} failed: {report.sentence()}"
    if report.is_in_doubt:
        return DoubtfulCall(f"{said}; whether it was done is unknown", "ConnectionError")
    return AgentError(said)


def _in_brackets(last_words: str) -> str:
    return f" (its last words: {last_words})" if last_words else ""


class _InputWanted(Exception):
    """A server answered a call with a question to the client's user."""


@lru_cache
def _result_type() -> TypeAdapter[CallToolResult]:
    """The result of a call, which is no question. Raises: _InputWanted: it is one."""
    from mcp_types import CallToolResult
    from pydantic import TypeAdapter, WrapValidator

    def read(data: Any, validate: Callable[[Any], CallToolResult]) -> CallToolResult:
        if isinstance(data, dict) and data.get("resultType") == "input_required":
            raise _InputWanted
        return validate(data)

    return TypeAdapter(Annotated[CallToolResult, WrapValidator(read)])


def _first(error: BaseException) -> Exception:
    """The first exception of a group; a cancelled start is a failed one."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, Exception) else EnvironmentFailure("the connection was cancelled")


def _said(error: MCPError, most: int) -> str:
    """An error's message, without the lines that pydantic adds for a message that it cannot read."""
    from mcp_types import PARSE_ERROR

    is_quoting = error.code == PARSE_ERROR and "\n" in error.message
    return one_line(error.message.partition(":")[0] if is_quoting else error.message, most)


def _details(error: MCPError) -> str:
    """What an error says beside its message, such as the cause of an "Internal error"; empty if that is nothing."""
    data = error.error.data
    with contextlib.suppress(ValueError, RecursionError):  # what JSON cannot hold, or is nested too deeply
        return one_line(data if isinstance(data, str) else json.dumps(data), _MAX_REASON_CHARS) if data else ""
    return ""


def _reason(error: Exception) -> str:
    from mcp import MCPError
    from pydantic import ValidationError

    with contextlib.suppress(Exception):  # its text may hold anything
        found = _first(error)
        if isinstance(found, ValidationError):  # its own text quotes the server's message, and names a web page
            fault = found.errors(include_url=False, include_context=False, include_input=False)[0]
            place = ".".join(map(str, fault["loc"]))
            return one_line(f"what it sent breaks the protocol at {place}: {fault['msg']}", _MAX_REASON_CHARS)
        if isinstance(found, MCPError):
            return ": ".join(filter(None, (_said(found, _MAX_REASON_CHARS), _details(found))))
        if text := one_line(f"{found}", _MAX_REASON_CHARS):
            return text
    return type(error).__name__
