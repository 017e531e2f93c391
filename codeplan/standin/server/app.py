"""An endpoint on loopback that speaks OpenAI's protocol and answers with the scripted model, with faults on demand.

For tests: a client meets real HTTP, and each request is logged with what it spent, so that counts can be compared.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import msgspec

from codeplan.errors import ModelError, UsageError
from codeplan.protocols import LLM
from codeplan.standin.prompt_sections import infer_purpose
from codeplan.standin.server import bodies, embeddings
from codeplan.standin.server.bodies import ServerReply
from codeplan.standin.server.faults import FaultChooser, FaultSettings
from codeplan.types.model import Completion, Message

FAULT_HEADER = "x-codeplan-fault"
"""A request with this header gets the fault that it names."""

_MAX_BODY_BYTES = 32_000_000
_APIS = {"/chat/completions": "chat", "/responses": "responses", "/embeddings": "embeddings"}
_STATUS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}


class RequestLogEntry(msgspec.Struct, kw_only=True):
    """One line of the log. ``at`` is Unix time, ``seconds`` how long the answer took, ``user`` what the request says.

    ``usage`` is what the client was told that it spent: None where it got no whole reply.
    """

    request: int
    at: float
    api: str
    model: str = ""
    user: str = ""
    fault: str = ""
    status: int = 200
    stream: bool = False
    seconds: float = 0.0
    usage: dict[str, int] | None = None


class StandInServer:
    """The endpoint, to be started in an event loop. ``latency`` is in seconds, for each request; ``log`` a new file.

    Raises UsageError where the log cannot be written, and from ``start`` where the port is taken.
    """

    def __init__(
        self, model: LLM, *, latency: float = 0.0, faults: FaultSettings | None = None, log: Path | None = None
    ):
        self._model, self._latency = model, latency
        self._fault_chooser = FaultChooser(faults or FaultSettings())
        self._log = _open_log(log) if log else None
        self.request_count = 0
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self, port: int = 0) -> str:
        """Listen on loopback (on any free port for 0) and return the base URL."""
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, backlog=1024)
        except (OSError, OverflowError) as e:
            raise UsageError(f"port {port} cannot be used: {getattr(e, 'strerror', None) or e}; try --port 0") from None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def stop(self) -> None:
        """End all connections, and close the log."""
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._log:
            self._log.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: request after request, until either side ends it."""
        task = asyncio.current_task()
        assert task is not None, "a connection is served in a task"
        self._connections.add(task)
        try:
            while (request := await _read(reader)) is not None:
                await self._answer(request, reader, writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # the client left, or speaks no HTTP
        except asyncio.CancelledError:
            pass  # the server ends
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(self, request: _Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = request.path.partition("?")[0].removeprefix("/v1")
        if path == "/models" and request.method == "GET":
            writer.write(_whole(200, bodies.models_body()))
            return
        if path not in _APIS or request.method != "POST":
            said = f"there is no {request.method} {request.path} here"
            writer.write(_whole(404, bodies.error_body(said, "not_found_error")))
            return
        self.request_count += 1
        entry = RequestLogEntry(request=self.request_count, at=time.time(), api=_APIS[path])
        began = asyncio.get_running_loop().time()
        entry.fault = self._fault_chooser.choose_fault(request.body, request.headers.get(FAULT_HEADER, ""))
        reply = self._reply(request, entry)
        late = self._fault_chooser.faults.slow_by if entry.fault == "slow" else 0.0
        await asyncio.sleep(max(0.0, began + self._latency + late - asyncio.get_running_loop().time()))
        if reader.at_eof():
            entry.usage = None  # nobody waits for it any more
        entry.seconds = round(asyncio.get_running_loop().time() - began, 6)
        self._record(entry)  # before the client can act on the reply
        _send(writer, reply, entry)

    def _reply(self, request: _Request, entry: RequestLogEntry) -> list[bytes]:
        """The bytes to send, in pieces; the entry is completed by what they say."""
        try:
            asked = msgspec.json.decode(request.body, type=dict)
            entry.model, entry.user = str(asked.get("model", "")), str(asked.get("user", ""))
            entry.stream = asked.get("stream") is True
            if entry.fault in ("429", "500"):
                return self._refused(entry, int(entry.fault), "a fault made on purpose", "server_error")
            if entry.fault == "garbage":
                return [_framed(200, b"<html>\x00\xff this is no JSON", "text/html")]
            if entry.api == "embeddings":
                return [self._embedded(asked, entry)]
            completion = self._complete(bodies.read_messages(asked, entry.api))
        except (ValueError, ModelError) as e:
            return self._refused(entry, 400, str(e), "invalid_request_error")
        answer = ServerReply.from_completion(completion, entry.request, entry.model, entry.fault)
        if entry.fault != "cut":
            entry.usage = {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
        return list(_reply_chunks(answer, entry, asked))

    def _complete(self, messages: list[Message]) -> Completion:
        system, user = ("\n".join(m["content"] for m in messages if m["role"] == role) for role in ("system", "user"))
        return self._model.complete(messages, purpose=infer_purpose(system, user))

    def _embedded(self, asked: dict[str, Any], entry: RequestLogEntry) -> bytes:
        body = embeddings.embeddings_body(embeddings.read_texts(asked), entry.model, entry.fault)
        if entry.fault != "cut":
            entry.usage = {"input_tokens": body["usage"]["prompt_tokens"], "output_tokens": 0}
        return _whole(200, body)

    def _refused(self, entry: RequestLogEntry, status: int, said: str, kind: str) -> list[bytes]:
        entry.status = status
        headers = {"Retry-After": f"{self._fault_chooser.faults.retry_after:g}"} if status == 429 else {}
        return [_whole(status, bodies.error_body(said, kind), headers)]

    def _record(self, entry: RequestLogEntry) -> None:
        if self._log:
            self._log.write(msgspec.json.encode(entry) + b"\n")


def _reply_chunks(answer: ServerReply, entry: RequestLogEntry, asked: dict[str, Any]) -> Iterable[bytes]:
    chat = entry.api == "chat"
    if not entry.stream:
        yield _whole(200, bodies.chat_body(answer) if chat else bodies.response_body(answer))
        return
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    with_usage = bool((asked.get("stream_options") or {}).get("include_usage"))
    events = bodies.chat_stream(answer, with_usage) if chat else bodies.response_stream(answer)
    for event in events:
        yield f"{len(event):x}\r\n".encode() + event + b"\r\n"
    yield b"0\r\n\r\n"


def _send(writer: asyncio.StreamWriter, reply: list[bytes], entry: RequestLogEntry) -> None:
    data = b"".join(reply)
    if entry.fault != "cut":
        writer.write(data)
        return
    writer.write(data[: max(1, len(data) - 60)])
    writer.close()


# ------------------------------------------------------------------ HTTP, as much as is needed


class _Request(msgspec.Struct, frozen=True):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


async def _read(reader: asyncio.StreamReader) -> _Request | None:
    """The next request; None where the client has no more. Raises ValueError for what is no HTTP."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = int(headers.get("content-length") or 0)
    if not 0 <= length <= _MAX_BODY_BYTES:
        raise ValueError("the body is too long")
    return _Request(method, path, headers, await reader.readexactly(length))


def _whole(status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> bytes:
    return _framed(status, msgspec.json.encode(body), "application/json", headers)


def _framed(status: int, body: bytes, kind: str, headers: dict[str, str] | None = None) -> bytes:
    lines = {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} {_STATUS[status]}\r\n{head}\r\n".encode() + body


def _open_log(log: Path) -> IO[bytes]:
    try:
        return log.open("xb", buffering=0)
    except FileExistsError:
        raise UsageError(f"the log {log} exists already and is not overwritten; name another file") from None
    except OSError as e:
        raise UsageError(f"the log cannot be written to {log}: {e.strerror}") from None
