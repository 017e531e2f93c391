"""A loopback endpoint that speaks OpenAI's protocol and answers with the stand-in, with faults on demand.

It lets tests and users try clients over real HTTP. Its log has each request's usage, to compare counts with.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from codeplan.errors import ModelError, UsageError
from codeplan.protocols import LLM
from codeplan.standin.prompt_sections import infer_purpose
from codeplan.standin.server import bodies, embeddings
from codeplan.standin.server.bodies import ServerReply
from codeplan.standin.server.faults import FaultChooser, FaultSettings
from codeplan.types import Completion, Message
from codeplan.untrusted import files
from codeplan.untrusted.local_server import LOOPBACK, LocalOnly, listen, uvicorn_settings

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

FAULT_HEADER = "x-codeplan-fault"
"""A request header that names the fault the request gets."""

_MAX_BODY_BYTES = 32_000_000
_CUT_BYTES = 60
_KEEP_ALIVE_SECONDS = 3600
_APIS = {"/chat/completions": "chat", "/responses": "responses", "/embeddings": "embeddings"}


class RequestLogEntry(msgspec.Struct, kw_only=True):
    """One line of the log. ``at`` is Unix time, ``seconds`` the time to answer, ``user`` the request's own field.

    ``usage`` is what the reply reported; None if the client got no whole reply.
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
    """The endpoint, to be started in a running event loop.

    ``latency`` is the time that each answer takes, in seconds. ``log`` is a new file for one JSON line per request.

    Raises: UsageError: the log cannot be written.
    """

    def __init__(
        self, model: LLM, *, latency: float = 0.0, faults: FaultSettings | None = None, log: Path | None = None
    ) -> None:
        self._model, self._latency = model, latency
        self._fault_chooser = FaultChooser(faults or FaultSettings())
        self._log = _open_log(log) if log else None
        self.request_count = 0

    async def start(self, port: int = 0) -> str:
        """Listen on loopback and return the base URL; 0 picks a free port.

        Raises: UsageError: the port is taken, or the extra ``web`` is not installed.
        """
        try:
            import uvicorn
        except ImportError:
            raise UsageError("serve-scripted needs the extra web; install it: pip install 'codeplan[web]'") from None
        listener = listen(port)
        port = listener.getsockname()[1]
        app = LocalOnly(self._application(), port, max_body=_MAX_BODY_BYTES)
        settings = {**uvicorn_settings(), "timeout_keep_alive": _KEEP_ALIVE_SECONDS}
        self._server: uvicorn.Server = uvicorn.Server(uvicorn.Config(app, **settings))
        self._server.capture_signals = contextlib.nullcontext  # type: ignore[assignment]  # leave Ctrl-C to the caller
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))
        return f"http://{LOOPBACK}:{port}/v1"

    async def stop(self) -> None:
        """End all connections and close the log."""
        self._server.should_exit = True
        await self._serving
        if self._log:
            self._log.close()

    def _application(self) -> Starlette:
        from starlette.applications import Starlette
        from starlette.responses import JSONResponse
        from starlette.routing import Route

        async def list_models(request: Request) -> Response:
            return JSONResponse(bodies.models_body())

        async def not_found(request: Request, error: Exception) -> Response:
            message = f"there is no {request.method} {request.url.path} here"
            return JSONResponse(bodies.error_body(message, "not_found_error"), 404)

        routes = [Route(root + path, self._answer, methods=["POST"]) for root in ("", "/v1") for path in _APIS]
        routes += [Route(root + "/models", list_models) for root in ("", "/v1")]
        return Starlette(routes=routes, exception_handlers={404: not_found, 405: not_found})

    async def _answer(self, request: Request) -> Response:
        body = await request.body()
        self.request_count += 1
        api = _APIS[request.url.path.removeprefix("/v1")]
        entry = RequestLogEntry(request=self.request_count, at=time.time(), api=api)
        began = asyncio.get_running_loop().time()
        entry.fault = self._fault_chooser.choose_fault(body, request.headers.get(FAULT_HEADER, ""))
        response = self._respond(body, entry)
        delay = self._latency + (self._fault_chooser.faults.slow_by if entry.fault == "slow" else 0.0)
        await asyncio.sleep(max(0.0, began + delay - asyncio.get_running_loop().time()))
        if await request.is_disconnected():
            entry.usage = None
        entry.seconds = round(asyncio.get_running_loop().time() - began, 6)
        if self._log:  # before the client can act on the reply
            files.write_all(self._log, msgspec.json.encode(entry) + b"\n")
        return response

    def _respond(self, body: bytes, entry: RequestLogEntry) -> Response:
        """The response to a request's body; completes the log entry."""
        try:
            request = msgspec.json.decode(body, type=dict)
            entry.model, entry.user = bodies.read_name(request, "model"), bodies.read_name(request, "user")
            entry.stream = request.get("stream") is True
            if entry.fault in ("429", "500"):
                return self._refuse(entry, int(entry.fault), "a fault made on purpose", "server_error")
            if entry.fault == "garbage":
                return _response(b"<html>\x00\xff this is no JSON", "text/html")
            if entry.api == "embeddings":
                return _embeddings_response(request, entry)
            completion = self._complete(bodies.read_messages(request, entry.api))
        except (ValueError, ModelError) as e:
            return self._refuse(entry, 400, str(e), "invalid_request_error")
        except RecursionError:
            return self._refuse(entry, 400, "the request is nested too deeply", "invalid_request_error")
        reply = ServerReply.from_completion(completion, entry.request, entry.model, entry.fault)
        if entry.fault != "cut":
            entry.usage = {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}
        return _completion_response(reply, request, entry)

    def _complete(self, messages: list[Message]) -> Completion:
        system, user = ("\n".join(m["content"] for m in messages if m["role"] == role) for role in ("system", "user"))
        return self._model.complete(messages, purpose=infer_purpose(system, user))

    def _refuse(self, entry: RequestLogEntry, status: int, message: str, kind: str) -> Response:
        from starlette.responses import JSONResponse

        entry.status = status
        headers = {"Retry-After": f"{self._fault_chooser.faults.retry_after:g}"} if status == 429 else None
        return JSONResponse(bodies.error_body(message, kind), status, headers)


def _embeddings_response(request: dict[str, Any], entry: RequestLogEntry) -> Response:
    body = embeddings.embeddings_body(embeddings.read_texts(request), entry.model, entry.fault)
    if entry.fault != "cut":
        entry.usage = {"input_tokens": body["usage"]["prompt_tokens"], "output_tokens": 0}
    return _response(msgspec.json.encode(body), cut=entry.fault == "cut")


def _completion_response(reply: ServerReply, request: dict[str, Any], entry: RequestLogEntry) -> Response:
    chat, cut = entry.api == "chat", entry.fault == "cut"
    if not entry.stream:
        body = bodies.chat_body(reply) if chat else bodies.response_body(reply)
        return _response(msgspec.json.encode(body), cut=cut)
    stream_options = request.get("stream_options")
    with_usage = isinstance(stream_options, dict) and stream_options.get("include_usage") is True
    events = bodies.chat_stream(reply, with_usage) if chat else bodies.response_stream(reply)
    return _response(b"".join(events), "text/event-stream", cut=cut)


def _response(body: bytes, media_type: str = "application/json", *, cut: bool = False) -> Response:
    """The response with this body; a ``cut`` one ends its connection before the end of the body."""
    from starlette.responses import Response

    class CutResponse(Response):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await send(
                {"type": "http.response.body", "body": body[: max(1, len(body) - _CUT_BYTES)], "more_body": True}
            )

    return (CutResponse if cut else Response)(body, media_type=media_type)


def _open_log(log: Path) -> BinaryIO:
    try:
        return files.create_file(log)
    except FileExistsError:
        raise UsageError(f"the log {log} exists already and is not overwritten; name another file") from None
    except OSError as e:
        raise UsageError(f"the log cannot be written to {log}: {e.strerror}") from None
