"""Serves the protocol: to one client over standard streams, or to many over streamable HTTP; mends what they send."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import ipaddress
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, TypeVar

import msgspec

from codeplan.errors import UsageError
from codeplan.tools.mcp.messages import find_request_id, has_wrong_id, parse_message
from codeplan.untrusted.files import write_all
from codeplan.untrusted.json_values import has_more_values
from codeplan.untrusted.local_server import LOOPBACK, LocalOnly, listen, uvicorn_settings
from codeplan.untrusted.values import in_quotes

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage, RequestId


MAX_MESSAGE_BYTES: Final = 1 << 20
"""Maximum size of one message of a client, in bytes: some are kept while their calls wait."""

MAX_MESSAGE_VALUES: Final = 10_000
"""Maximum number of JSON values in one message. Parsed, they take thirty times as much memory as their text."""

_CHUNK: Final = 1 << 16
_T = TypeVar("_T")


class ProtocolStreams(NamedTuple):
    """The input and the output of the protocol's messages, one per line."""

    input: BinaryIO
    output: BinaryIO


@contextmanager
def claim_standard_streams() -> Iterator[ProtocolStreams]:
    """Take standard input and output for the protocol.

    Meanwhile, output of tools and of programs that they start goes to standard error, and their input is empty.
    """
    sys.stdout.flush()
    taken = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in (0, 1)]
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:  # a thread may wait for input until the process ends: these files are never closed
        yield ProtocolStreams(os.fdopen(taken[0], "rb", closefd=False), os.fdopen(taken[1], "wb", 0, closefd=False))
    finally:
        sys.stdout.flush()
        for fd, own in enumerate(taken):
            os.dup2(own, fd)


async def serve_streams(server: Server[Any], streams: ProtocolStreams) -> None:
    """Serve until the client closes its end. Calls that are under way then are cancelled."""
    from anyio import create_memory_object_stream
    from mcp.shared.message import SessionMessage

    received, messages = create_memory_object_stream[SessionMessage | Exception](0)
    sent, outgoing = create_memory_object_stream[SessionMessage](0)
    lock = asyncio.Lock()
    tasks = [
        asyncio.create_task(_read(streams, received, lock)),
        asyncio.create_task(_write(streams, outgoing, received, lock)),
    ]
    try:
        await server.run(messages, sent, server.create_initialization_options())
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (received, messages, sent, outgoing):
            stream.close()


async def _read(streams: ProtocolStreams, received: Any, lock: asyncio.Lock) -> None:
    """Pass on the client's messages. A line that is not a message is answered with an error."""
    import anyio

    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while line := await _in_thread(lambda: _read_line(streams.input)):
            message = _parse(line)
            if isinstance(message, bytes):
                await _write_line(streams, message, lock)
            elif message is not None:
                await received.send(message)
    received.close()


async def _write(streams: ProtocolStreams, outgoing: Any, received: Any, lock: asyncio.Lock) -> None:
    async for message in outgoing:
        if not await _write_line(streams, _packed(message.message), lock):
            received.close()
            return


async def _write_line(streams: ProtocolStreams, data: bytes, lock: asyncio.Lock) -> bool:
    """Whether the client took the line."""
    async with lock:
        try:
            await _in_thread(lambda: write_all(streams.output, data + b"\n"))
        except OSError:
            return False
    return True


def _read_line(source: BinaryIO) -> bytes:
    """The next line; of one that is too long only the start, without its end. Empty at the end of input."""
    try:
        line = source.readline(MAX_MESSAGE_BYTES + 1)
        rest = line
        while len(line) > MAX_MESSAGE_BYTES and rest and not rest.endswith(b"\n"):
            rest = source.readline(_CHUNK)
    except OSError:
        return b""
    return line


def _parse(line: bytes) -> SessionMessage | bytes | None:
    """The message of a line; the error that answers one that is none; None for an empty line."""
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCNotification

    if len(line) > MAX_MESSAGE_BYTES:
        return _fault(f"a message has more than {MAX_MESSAGE_BYTES >> 20} MiB")
    if has_more_values(line, MAX_MESSAGE_VALUES):
        return _fault(f"a message holds more than {MAX_MESSAGE_VALUES:,} values", find_request_id(line))
    if not line.strip():
        return None
    try:
        message = parse_message(mend_message(line))
    except ValueError:
        return _fault("a line is no message of JSON-RPC 2.0", find_request_id(line))
    if isinstance(message, JSONRPCNotification) and has_wrong_id(line):
        return _fault("the id of a request is neither a text nor a whole number")
    return SessionMessage(message)


def _fault(sentence: str, request: RequestId | None = None) -> bytes:
    """An error in answer to a line: to its request, if that is known."""
    from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError

    code = PARSE_ERROR if request is None else INVALID_REQUEST
    return _packed(JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=sentence)))


def _packed(message: JSONRPCMessage) -> bytes:
    """A message as a line of JSON. A client's own texts may come back in it, with half surrogate pairs."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except ValueError:
        return json.dumps(message.model_dump(mode="json", by_alias=True, exclude_unset=True)).encode()


async def _in_thread(work: Callable[[], _T]) -> _T:
    """Wait for work that may never end. Its thread does not keep the process from ending."""
    result: Future[_T] = Future()
    result.set_running_or_notify_cancel()  # it cannot be cancelled, so the thread can always set its result

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, name="codeplan-mcp-stdio", daemon=True).start()
    return await asyncio.wrap_future(result)


MAX_SESSIONS: Final = 100
"""How many clients may be connected at a time."""

IDLE_SECONDS: Final = 1_800.0
"""Seconds after which an unused session ends."""

PATH: Final = "/mcp"
_KEEP_ALIVE_SECONDS: Final = 60


class HttpAddress(NamedTuple):
    """The address to listen on. Port 0 chooses a free port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host == "localhost" or _is_loopback(self.host)

    @property
    def name(self) -> str:
        """The host as it stands in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host


def parse_http_address(text: str) -> HttpAddress:
    """Read ``HOST:PORT``, ``:PORT`` or ``PORT``. Raises: UsageError: it is neither, or stands for all addresses."""
    host, _, port = text.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or LOOPBACK
    if not (port.isascii() and port.isdigit() and int(port) <= 65_535) or any(c in "/@ " for c in host):
        raise UsageError(f"--http takes HOST:PORT, such as {LOOPBACK}:8000, not {in_quotes(text, 100)}")
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_unspecified:
            raise UsageError(f"--http {text} would listen on every address; name the one that clients use")
    return HttpAddress(host, int(port))


async def serve_http(server: Server[Any], address: HttpAddress, on_ready: Callable[[str], None]) -> None:
    """Serve until cancelled. ``on_ready`` gets the URL. Raises: UsageError: the address cannot be used."""
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    listener = listen(address.port, LOOPBACK if address.host == "localhost" else address.host)
    port = listener.getsockname()[1]
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_MESSAGE_BYTES,
        session_idle_timeout=IDLE_SECONDS,
        max_sessions=MAX_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # LocalOnly does it
    )
    app = LocalOnly(_BoundedMessages(inner), port, max_body=MAX_MESSAGE_BYTES, host=address.name)
    web = uvicorn.Server(uvicorn.Config(app, **uvicorn_settings(), timeout_keep_alive=_KEEP_ALIVE_SECONDS))
    web.capture_signals = contextlib.nullcontext  # type: ignore[assignment]  # the caller ends the server
    async with server.session_manager.run():
        on_ready(f"http://{address.name}:{port}{PATH}")
        try:
            await web.serve(sockets=[listener])
        finally:
            web.should_exit = True


class _BoundedMessages:
    """An application around that of the official package, which parses any number of values.

    It also drops the header by which clients ask for events again: this server keeps none, and the package would fail.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0].lower() != b"last-event-id"]}
        parts = [await receive()]
        while parts[-1].get("more_body"):
            parts.append(await receive())
        body = b"".join(part.get("body", b"") for part in parts)
        if has_more_values(body, MAX_MESSAGE_VALUES):
            sentence = f"A message holds more than {MAX_MESSAGE_VALUES:,} values.\n".encode()
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(sentence))]
            await send({"type": "http.response.start", "status": 413, "headers": headers})
            await send({"type": "http.response.body", "body": sentence})
            return
        mended = mend_message(body)
        whole = [{**parts[-1], "body": mended}]
        if len(mended) != len(body):
            scope["headers"] = [pair for pair in scope["headers"] if pair[0].lower() != b"content-length"]
            scope["headers"].append((b"content-length", b"%d" % len(mended)))

        async def receive_again() -> Any:
            return whole.pop() if whole else await receive()

        await self._app(scope, receive_again, send)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# ------------------------------------------------------------------ parameters that break the protocol, but are plain

MAX_VALUES: Final = 10_000
"""Maximum number of values in arguments that come as a JSON text."""


_NO_PARAMETERS: Final = re.compile(rb'("params"\s*+:\s*+)\[\s*+\]')


def mend_message(data: bytes) -> bytes:
    """The message, with {} for parameters that are an empty list: the protocol knows no list of them."""
    if _NO_PARAMETERS.search(data):
        try:
            parse_message(data)
        except ValueError:
            return _NO_PARAMETERS.sub(rb"\1{}", data)
    return data


def mend_parameters(method: str, params: dict[str, Any]) -> None:
    """Change the parameters in place: null means absent, and a list without items, as PHP writes it, an empty table.

    What a client says of itself and of its capabilities need not be right, and the arguments of a call may come as a
    JSON text.
    """
    _drop_nulls(params)
    meta = params.get("_meta")
    if isinstance(meta, dict):
        _drop_nulls(meta)
    if method == "initialize":
        params["capabilities"] = _capabilities(params.get("capabilities"))
        params["clientInfo"] = _client_info(params.get("clientInfo"))
    elif method == "tools/call" and "arguments" in params:
        params["arguments"] = _arguments(params["arguments"])


def _drop_nulls(table: dict[str, Any]) -> None:
    for name in [name for name, value in table.items() if value is None]:
        del table[name]


def _capabilities(given: Any) -> dict[str, Any]:
    """The capabilities that a client has: some write true for one, others the list of what it offers."""
    if not isinstance(given, dict):
        return {}
    return {name: value if isinstance(value, dict) else {} for name, value in given.items() if value or value == {}}


def _client_info(given: Any) -> dict[str, Any]:
    info = given if isinstance(given, dict) else {}
    named = {name: str(info.get(name) or "unknown") for name in ("name", "version")}
    return {**info, **named}


def _arguments(given: Any) -> Any:
    if given == []:
        return {}
    if not isinstance(given, str):
        return given
    if not given.strip():
        return {}
    if has_more_values(given.encode(errors="replace"), MAX_VALUES):
        return given
    try:
        return msgspec.json.decode(given, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return given
