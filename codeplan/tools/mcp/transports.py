"""The ways to reach a server: a program that is started, or a site by streamable HTTP or by the older transport."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec

from codeplan.errors import EnvironmentFailure
from codeplan.tools.mcp.addresses import ServerAddress
from codeplan.tools.mcp.http_answers import CURRENT_REPORT, HttpReport, note_response
from codeplan.tools.mcp.messages import (
    MAX_MESSAGE_BYTES,
    FloodError,
    FloodGate,
    GatedStream,
    UnreadableAnswer,
    read_message,
    require_size,
)
from codeplan.untrusted.texts import one_line
from codeplan.untrusted.values import in_quotes

if TYPE_CHECKING:
    from mcp_types import RequestId

    from codeplan.tools.mcp.logins import SiteLogin

EXIT_SECONDS: Final = 2.0
"""How long a program may take to exit, after its input is closed and again after SIGTERM."""

_SCRIPT: Final = """
watched=$1; shift
(trap '' TERM; read -r _ </dev/fd/$watched; kill -TERM 0; sleep 2; kill -KILL 0) </dev/null >/dev/null 2>&1 &
exec "$@"
"""
"""The shell becomes the program. Its child reads from a pipe until this process is gone, and then ends the program's
group."""

_CERTIFICATES: Final = ("CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE")
_INHERITED: Final = (
    *("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
    *_CERTIFICATES,  # paths of files, without which npx and uvx reach no registry in some networks
)
"""The environment variables that a server gets. Other variables may hold keys."""

_WATCH_SECONDS: Final = 0.1
_MAX_STDERR_BYTES: Final = 4_000
_MAX_LAST_LINES: Final = 3
_MAX_LAST_WORDS: Final = 300


class ServerProgram:
    """A running program as a transport of the official client: ``connect`` yields its streams.

    Raises: EnvironmentFailure: it cannot be started.
    """

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
        self._process: asyncio.subprocess.Process | None = None
        self._errors = bytearray()
        self._noise = bytearray()
        self.gate = FloodGate()
        """What the server sent."""
        self.fault = ""
        """Why the connection ended, in words that follow the server's name; empty if it is open."""
        self.has_exited = False
        """Whether the connection ended because the program did."""
        self.stray_answer = ""
        """What is wrong with an answer that belongs to no request, in words that follow the server; or empty."""
        self._sent: dict[str, RequestId] = {}  # the ids of requests without an answer
        self._has_notified = False  # whether no request was answered since the last notification
        self.has_lost_session = False
        """Always false: a program has one session."""

    @property
    def is_over(self) -> bool:
        """Whether the connection has ended."""
        return bool(self.fault)

    @property
    def last_words(self) -> str:
        """The last lines that the program wrote to standard error, or else to its output beside its messages."""
        lines = (self._errors or self._noise).decode("utf-8", "replace").split("\n")
        told = [line for line in map(str.strip, lines) if line]
        return one_line(" / ".join(told[-_MAX_LAST_LINES:]), _MAX_LAST_WORDS)

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[tuple[Any, Any]]:
        """Start the program; end it, and all that it started in its group, afterwards."""
        from anyio import create_memory_object_stream
        from mcp.shared.message import SessionMessage

        read_end, write_end = os.pipe()
        try:
            process = self._process = await self._start(read_end)
        except BaseException:
            os.close(write_end)
            raise
        finally:
            os.close(read_end)
        received, messages = create_memory_object_stream[SessionMessage | Exception](0)
        sent, outgoing = create_memory_object_stream[SessionMessage](0)
        tasks = [
            asyncio.ensure_future(work)
            for work in (
                self._read(process, received),
                self._write(process, outgoing, received),
                self._listen(process),
                self._watch(process, received),
            )
        ]
        try:
            yield messages, sent
        finally:
            before = self.fault, self.has_exited  # as they were before this ends the program
            try:
                await _end(process)
            finally:
                self.kill()
                os.close(write_end)
                await _exits(process)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                for stream in (received, messages, sent, outgoing):
                    stream.close()
                _close_pipes(process)
                self.fault, self.has_exited = before

    def kill(self) -> None:
        """Kill the program's group at once, whatever it is doing. Safe to call twice and from any thread."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process = None

    async def _start(self, watched: int) -> asyncio.subprocess.Process:
        env = {name: os.environ[name] for name in _INHERITED if name in os.environ} | dict(self._address.env)
        program = self._address.command[0]
        if shutil.which(program, path=env.get("PATH")) is None:
            advice = "; write what follows the program's name in args" if " " in program else ""
            raise self._failure(f"there is no program {in_quotes(program)}{advice}")
        command = ("/bin/sh", "-c", _SCRIPT, "sh", f"{watched}", *self._address.command)
        try:
            return await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=MAX_MESSAGE_BYTES,
                env=env,
                cwd=self._address.cwd,
                start_new_session=True,
                pass_fds=(watched,),
            )
        except (OSError, ValueError) as error:
            raise self._failure(one_line(f"{error}")) from None

    def _failure(self, reason: str) -> EnvironmentFailure:
        return EnvironmentFailure(f"the MCP server {self._address.name} cannot start: {reason}")

    async def _read(self, process: asyncio.subprocess.Process, received: Any) -> None:
        """Pass on the useful messages until the program closes its output, or exceeds a limit."""
        import anyio

        assert process.stdout is not None
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            try:
                while True:
                    line = await process.stdout.readuntil(b"\n")
                    require_size(line)
                    message = read_message(line)
                    if isinstance(message, Exception):
                        self._keep_last(self._noise, line)
                    self._note_answer(message)
                    if self.gate.lets_pass(message, len(line)):
                        await received.send(message)
            except asyncio.IncompleteReadError:
                await self._note_end(process)
            except asyncio.LimitOverrunError:
                self.fault = f"sent a message of more than {MAX_MESSAGE_BYTES >> 20} MiB"
            except (FloodError, UnreadableAnswer) as fault:
                self.fault = str(fault)
            except OSError as error:
                self.fault = f"cannot be read from: {one_line(str(error))}"
        received.close()

    def _note_answer(self, message: Any) -> None:
        from mcp_types import JSONRPCError, JSONRPCResponse

        answer = getattr(message, "message", None)
        if isinstance(answer, JSONRPCResponse | JSONRPCError):
            if answer.id is None and len(self._sent) == 1 and not self._has_notified:
                [answer.id] = self._sent.values()  # an error of a server that could not read the only open request
            if self._sent.pop(str(answer.id), None) is None:
                shown = one_line(json.dumps(answer.id), 40)
                self.stray_answer = f"sends answers with the id {shown}, which no request has"
            else:
                self._has_notified = False

    async def _write(self, process: asyncio.subprocess.Process, outgoing: Any, received: Any) -> None:
        from mcp_types import JSONRPCNotification, JSONRPCRequest

        assert process.stdin is not None
        async for message in outgoing:
            if isinstance(message.message, JSONRPCRequest):
                self._sent[str(message.message.id)] = message.message.id
            elif isinstance(message.message, JSONRPCNotification):  # a server may answer it by an error without an id
                self._has_notified = True
            data = message.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            try:
                process.stdin.write(data + b"\n")
                await process.stdin.drain()
            except OSError:
                await self._note_end(process)
                received.close()
                return

    async def _watch(self, process: asyncio.subprocess.Process, received: Any) -> None:
        """Notice that the program has exited even if a child of it holds its output open."""
        while process.returncode is None:
            await asyncio.sleep(_WATCH_SECONDS)
        await asyncio.sleep(_WATCH_SECONDS)  # for what it wrote last
        await self._note_end(process)
        received.close()

    async def _note_end(self, process: asyncio.subprocess.Process) -> None:
        """Record how the program ended by itself, unless the connection was already broken."""
        await _exits(process, _WATCH_SECONDS)
        if not self.fault:
            self.fault, self.has_exited = _describe_end(process), True

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Keep the last part of the program's standard error."""
        assert process.stderr is not None
        while piece := await process.stderr.read(1 << 16):
            self._keep_last(self._errors, piece)

    def _keep_last(self, kept: bytearray, piece: bytes) -> None:
        kept += piece
        del kept[:-_MAX_STDERR_BYTES]


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close the program's input, then send SIGTERM, and wait each time. What still runs is killed afterwards."""
    if process.stdin is not None:
        process.stdin.close()
    for last in (False, True):
        if await _exits(process):
            return
        if not last:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGTERM)


def _describe_end(process: asyncio.subprocess.Process) -> str:
    """How the process ended, in words that follow its name; only that it did if it has no exit code yet."""
    code = process.returncode
    if code is None:
        return "ended"
    if code >= 0:
        return f"ended with exit code {code}"
    known = {int(number): number.name for number in signal.Signals}
    return f"was ended by {known.get(-code, f'signal {-code}')}"


async def _exits(process: asyncio.subprocess.Process, seconds: float = EXIT_SECONDS) -> bool:
    """Whether the process exits in time. ``process.wait()`` also waits for its pipes, which children may hold."""
    for _ in range(int(seconds * 100)):
        if process.returncode is not None:
            return True
        await asyncio.sleep(0.01)
    return False


def _close_pipes(process: asyncio.subprocess.Process) -> None:
    """Close what a surviving grandchild may hold open; asyncio has no public way."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            transport.close()


_CONNECT_SECONDS: Final = 20.0

_KEPT_SECONDS: Final = 2.0
"""How long an unused connection is kept. Many servers close theirs after 5 seconds, and a call that is sent at that
moment is in doubt."""

_BLANK_LINES: Final = re.compile(rb"(?>\r\n|\r|\n){2,}+")
"""The end of an event of a stream."""

_DATA: Final = re.compile(rb"(?:\A|(?<=[\r\n]))data:([^\r\n]*)")
"""A line of an event's data. A quotation mark in its other lines would make values look like text."""


class _Sent(msgspec.Struct):
    """A message to the server. Without an ``id`` it is a notification."""

    id: Any = None


class ServerSite:
    """A server at a URL as a transport of the official client: ``connect`` yields its streams.

    ``seconds`` is how long a response may pause that answers no request. How long a request may take is the session's
    matter: for the official client, a response that pauses for too long breaks the whole connection. ``is_sse`` says
    that it speaks the old transport. ``login`` is None if the user gives other credentials.
    """

    def __init__(self, address: ServerAddress, seconds: float, *, is_sse: bool, login: SiteLogin | None) -> None:
        self._address, self._seconds, self._is_sse, self._login = address, seconds, is_sse, login
        self.gate = FloodGate()
        """What the server sent."""
        self._stream: GatedStream | None = None
        self._fault = ""
        self.has_lost_session = False
        """Whether the site does not know the session any more."""
        self.stray_answer = ""
        """Always empty: a site answers each request by itself."""

    @property
    def fault(self) -> str:
        """Why the connection is of no more use, in words that follow the server's name; empty if it is open."""
        flood = self._stream.flood if self._stream else None
        return self._fault or (str(flood) if flood else "")

    @property
    def is_over(self) -> bool:
        """Whether the connection is of no more use. Without a ``fault``, its requests know why."""
        return bool(self.fault) or (self._stream is not None and self._stream.is_over)

    @property
    def has_exited(self) -> bool:
        """Always false: whether a site's program still runs cannot be seen from here."""
        return False

    @property
    def last_words(self) -> str:
        """Always empty: each request has a report of its own."""
        return ""

    def kill(self) -> None:
        """There is no program to kill."""

    def _refuse(self, flood: FloodError) -> None:
        self._fault = str(flood)

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[tuple[Any, Any]]:
        """Open the connection; the session ends afterwards."""
        from mcp.client.streamable_http import streamable_http_client

        url = self._address.url
        async with (
            self._http_client() as client,
            (
                connect_by_old_transport(client, url)
                if self._is_sse
                else streamable_http_client(url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES)
            ) as (messages, sent),
        ):
            self._stream = GatedStream(messages, self.gate)
            yield self._stream, sent

    def _http_client(self) -> Any:
        """A client whose responses are bounded, and reported to the requests' tasks."""
        import httpx2

        bounded = _bounded_stream_class(httpx2)

        async def check(response: Any) -> None:
            encoding = response.headers.get("content-encoding", "identity")
            if encoding != "identity":
                self._fault = "sent a compressed message, which is not read"
                raise httpx2.DecodingError(f"the encoding {in_quotes(encoding, 40)} was not asked for")
            is_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
            is_events = is_events and response.status_code < 400  # an error's body is bounded as a whole
            if is_events:
                response.encoding = "utf-8"  # whatever the site says: in other encodings, values are not counted
            response.stream = bounded(response.stream, is_events, self._refuse)
            await self._report(response)

        async def leave_time(request: Any) -> None:
            # read, because the content of a request that was redirected is a stream
            if request.method == "POST" and _request_id(await request.aread()) is not None:
                request.extensions["timeout"] = {**request.extensions["timeout"], "read": None}

        return _client_class(httpx2)(
            headers={**self._address.headers, "accept-encoding": "identity"},
            timeout=httpx2.Timeout(_CONNECT_SECONDS, read=self._seconds),
            limits=httpx2.Limits(keepalive_expiry=_KEPT_SECONDS),
            event_hooks={"request": [leave_time], "response": [check]},
            auth=self._login,
        )

    async def _report(self, response: Any) -> None:
        """Tell the task whose request this answers. Streams for GET are nobody's, and many servers have none."""
        report, request = CURRENT_REPORT.get(), response.request
        if report is None or request.method != "POST" or (number := _request_id(await request.aread())) is None:
            return
        if response.status_code >= 400:
            await response.aread()
        elif self._is_sse:  # the answer comes in the stream
            return
        note_response(report, response, number)
        if report.has_lost_session:
            self.has_lost_session, self._fault = True, "has forgotten the session"


def _request_id(content: bytes) -> Any:
    return msgspec.json.decode(content, type=_Sent).id


def _client_class(httpx: Any) -> type[Any]:
    class Client(httpx.AsyncClient):  # type: ignore[misc]
        """Reports the requests that could not be sent because there was no connection."""

        async def send(self, request: Any, **options: Any) -> Any:
            try:
                return await super().send(request, **options)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if report := CURRENT_REPORT.get():
                    report.is_sent = False
                raise

    return Client


def _bounded_stream_class(httpx: Any) -> type[Any]:
    class BoundedStream(httpx.AsyncByteStream):  # type: ignore[misc]
        """A body, or a stream of events, without messages that are too large; ``refuse`` hears of such a one."""

        def __init__(self, stream: Any, is_events: bool, refuse: Callable[[FloodError], None]) -> None:
            self._stream, self._is_events, self._refuse = stream, is_events, refuse

        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                async with aclosing(_bounded(self._stream, self._is_events)) as pieces:
                    async for piece in pieces:
                        yield piece
            except FloodError as flood:
                self._refuse(flood)
                # of all errors, the official client takes these alone for the end of a request
                raise (httpx.SSEError if self._is_events else httpx.StreamError)(str(flood)) from None

        async def aclose(self) -> None:
            await self._stream.aclose()

    return BoundedStream


async def _bounded(pieces: Any, is_events: bool) -> AsyncGenerator[bytes, None]:
    """The pieces, each checked before the message that it ends is parsed. Raises: FloodError: one is too large."""
    message = bytearray()
    async for piece in pieces:
        has_ended = is_events and _BLANK_LINES.search(message[-1:] + piece)
        message += piece
        if has_ended:
            *events, rest = _BLANK_LINES.split(bytes(message))
            message = bytearray(rest)
            for event in events:
                require_size(_event_data(event))
        elif len(message) > MAX_MESSAGE_BYTES:
            require_size(message)
        yield piece
    require_size(_event_data(message) if is_events else message)


def _event_data(event: bytes | bytearray) -> bytes:
    return b"\n".join(_DATA.findall(event))


_ADDRESS_SECONDS: Final = 20.0
"""How long the server may take to name the address for messages."""


@asynccontextmanager
async def connect_by_old_transport(client: Any, url: str) -> AsyncIterator[tuple[Any, Any]]:
    """Open the stream; yields the streams of messages as the official transports do. ``client`` bounds what it reads.

    Raises: ConnectionError: the response is no such stream, or it names an address at another site.
    """
    import httpx2
    from anyio import create_memory_object_stream
    from mcp.shared.message import SessionMessage

    timeout = httpx2.Timeout(_ADDRESS_SECONDS, read=None)
    async with client.stream("GET", url, headers={"accept": "text/event-stream"}, timeout=timeout) as response:
        await _require_stream(response)
        events = aiter(httpx2.EventSource(response, max_event_size=MAX_MESSAGE_BYTES))
        address = await _named_address(events, httpx2.URL(url))
        received, messages = create_memory_object_stream[SessionMessage | Exception](0)
        reading = asyncio.ensure_future(_read(events, received))
        try:
            yield messages, _Poster(client, address, received)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            received.close()
            messages.close()


async def _require_stream(response: Any) -> None:
    """Raises: ConnectionError: the response is an error, or something else than a stream of events."""
    kind = response.headers.get("content-type", "")
    if response.status_code == 200 and kind.lower().startswith("text/event-stream"):
        return
    await response.aread()
    report = CURRENT_REPORT.get() or HttpReport()
    note_response(report, response, None)
    raise ConnectionError(f"it is no stream of events: {report.sentence()}")


async def _named_address(events: Any, url: Any) -> Any:
    """The address for messages, which must be at the same site: the user's headers, with their keys, go there too."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_ADDRESS_SECONDS):
            async for event in events:
                if event.event == "endpoint":
                    named = url.join(event.data)
                    if (named.scheme, named.host, named.port) != (url.scheme, url.host, url.port):
                        raise ConnectionError(f"it names an address at another site: {one_line(str(named), 200)}")
                    return named
    raise ConnectionError("it names no address for messages in its stream of events")


async def _read(events: Any, received: Any) -> None:
    """Pass on the messages until the stream ends."""
    import anyio
    import httpx2

    ends = (anyio.BrokenResourceError, anyio.ClosedResourceError, httpx2.HTTPError, httpx2.StreamError)
    try:
        with contextlib.suppress(*ends, UnreadableAnswer):
            async for event in events:
                if event.event == "message" and event.data:
                    await received.send(read_message(event.data.encode("utf-8", "replace")))
    finally:
        received.close()  # calls that wait for an answer end now


class _Poster:
    """The stream of messages to the server. Each is sent in its sender's own task, whose report it fills in."""

    def __init__(self, client: Any, address: Any, received: Any) -> None:
        self._client, self._address, self._received = client, address, received

    async def send(self, message: Any) -> None:
        """Send the message; a request that the server refuses, or that does not arrive, is answered with an error."""
        import httpx2

        data = message.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        try:
            response = await self._client.post(self._address, json=data)
            fault = "" if response.status_code < 300 else f"HTTP status {response.status_code}"
        except httpx2.HTTPError as error:
            fault = one_line(f"the message could not be sent: {error}" if str(error) else type(error).__name__)
        if fault and "id" in data and "method" in data:
            await self._answer(data["id"], fault)

    async def _answer(self, number: Any, fault: str) -> None:
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp_types import CONNECTION_CLOSED, ErrorData, JSONRPCError

        error = JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=CONNECTION_CLOSED, message=fault))
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._received.send(SessionMessage(error))

    async def aclose(self) -> None:
        """Nothing more is sent."""
        self._received.close()

    async def __aenter__(self) -> _Poster:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
