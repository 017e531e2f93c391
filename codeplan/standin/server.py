"""The stand-in behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import random
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import msgspec

from codeplan.errors import ModelError, UsageError
from codeplan.protocols import LLM
from codeplan.standin.prompt_reading import infer_purpose
from codeplan.types import Completion, Message
from codeplan.untrusted import files
from codeplan.untrusted.local_server import LOOPBACK, LocalOnly, listen, uvicorn_settings

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send


MAX_NAME_CHARACTERS = 200
"""The longest name of a model or a user."""

_CHUNK_CHARACTERS = 40


class ServerReply(msgspec.Struct, frozen=True):
    """A reply to send. ``text`` is None for a reply without text; ``finish_reason`` is Chat Completions' term."""

    number: int
    model: str
    text: str | None
    finish_reason: str
    input_tokens: int
    output_tokens: int

    @staticmethod
    def from_completion(completion: Completion, number: int, model: str, fault: str) -> ServerReply:
        """The reply to a completion; the faults ``"null"`` and ``"length"`` remove or cut its text."""
        usage = completion.usage
        text, made = completion.text, usage.output_tokens or 0
        if fault == "length":
            text, made = text[: len(text) // 2], made // 2
        reason = "length" if fault == "length" else "stop"
        return ServerReply(number, model, None if fault == "null" else text, reason, usage.input_tokens or 0, made)


def read_name(request: dict[str, Any], field: str) -> str:
    """A name in a request; empty if it has none. Raises ValueError if it is no text, or too long."""
    name = request.get(field) or ""
    if not isinstance(name, str) or len(name) > MAX_NAME_CHARACTERS:
        raise ValueError(f"{field} is not a text of at most {MAX_NAME_CHARACTERS} characters")
    return name


def read_messages(request: dict[str, Any], api: str) -> list[Message]:
    """The messages of a request. Raises ValueError if one is invalid."""
    given = request.get("messages" if api == "chat" else "input")
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    instructions = request.get("instructions")
    system = [{"role": "system", "content": instructions}] if api == "responses" and instructions else []
    try:
        return msgspec.convert([*system, *(_plain_message(m) for m in given or [])], list[Message])
    except (msgspec.ValidationError, TypeError, KeyError, AttributeError) as e:
        raise ValueError(f"the messages are invalid: {e}") from None


def _plain_message(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its content as one text; it may come as a list of parts."""
    content = message["content"]
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    role = {"developer": "system"}.get(message["role"], message["role"])
    return {"role": role, "content": content}


# ------------------------------------------------------------------ Chat Completions


def chat_body(reply: ServerReply) -> dict[str, Any]:
    """The body of a chat completion."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": reply.text, "refusal": None},
        "finish_reason": reply.finish_reason,
        "logprobs": None,
    }
    return {**_chat_head(reply, "chat.completion"), "choices": [choice], "usage": _chat_usage(reply)}


def chat_stream(reply: ServerReply, with_usage: bool) -> Iterator[bytes]:
    """A chat completion as server-sent events, with the usage last if requested."""
    head = _chat_head(reply, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        return _server_sent_event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in _chunks(reply.text):
        yield chunk({"content": piece})
    yield chunk({}, reply.finish_reason)
    if with_usage:
        yield _server_sent_event({**head, "choices": [], "usage": _chat_usage(reply)})
    yield b"data: [DONE]\n\n"


def _chat_head(answer: ServerReply, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.number}",
        "object": kind,
        "created": int(time.time()),
        "model": answer.model,
        "system_fingerprint": "fp_scripted",
    }


def _chat_usage(answer: ServerReply) -> dict[str, int]:
    total = answer.input_tokens + answer.output_tokens
    return {"prompt_tokens": answer.input_tokens, "completion_tokens": answer.output_tokens, "total_tokens": total}


# ------------------------------------------------------------------ the Responses API


def response_body(reply: ServerReply) -> dict[str, Any]:
    """The body of a Responses API reply."""
    whole = reply.finish_reason == "stop"
    return {
        **_response_head(reply, "completed" if whole else "incomplete"),
        "incomplete_details": None if whole else {"reason": "max_output_tokens"},
        "output": [] if reply.text is None else [_message_item(reply, reply.text)],
        "usage": {
            "input_tokens": reply.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": reply.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.input_tokens + reply.output_tokens,
        },
    }


def response_stream(reply: ServerReply) -> Iterator[bytes]:
    """A Responses API reply as server-sent events."""
    at = {"item_id": f"msg_{reply.number}", "output_index": 0, "content_index": 0}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": _response_head(reply, "in_progress")}]
    events += [{"type": "response.output_text.delta", **at, "delta": piece} for piece in _chunks(reply.text)]
    events.append({"type": "response.output_text.done", **at, "text": reply.text or ""})
    ending = "response.completed" if reply.finish_reason == "stop" else "response.incomplete"
    events.append({"type": ending, "response": response_body(reply)})
    for number, event in enumerate(events):
        yield f"event: {event['type']}\n".encode() + _server_sent_event({**event, "sequence_number": number})


def _response_head(answer: ServerReply, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{answer.number}",
        "object": "response",
        "created_at": int(time.time()),
        "model": answer.model,
        "status": status,
        "error": None,
        "output": [],
    }


def _message_item(answer: ServerReply, text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "id": f"msg_{answer.number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


# ------------------------------------------------------------------ both


def error_body(message: str, kind: str) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _chunks(text: str | None) -> Iterator[str]:
    for start in range(0, len(text or ""), _CHUNK_CHARACTERS):
        yield (text or "")[start : start + _CHUNK_CHARACTERS]


def _server_sent_event(data: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(data) + b"\n\n"


# ------------------------------------------------------------------ embeddings

DIMENSIONS = 256
MAX_TEXTS = 2048
"""The most texts of one request, as at OpenAI's endpoint."""

MAX_CHARACTERS = 1_200_000
"""The most characters of one request: the 300,000 tokens of OpenAI's endpoint."""


def read_texts(request: dict[str, Any]) -> list[str]:
    """The texts of a request. Raises ValueError if it has none, or an invalid one."""
    given = request.get("input")
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, list) or not found or not all(isinstance(text, str) and text for text in found):
        raise ValueError("the input is not a text or a list of texts")
    if len(found) > MAX_TEXTS:
        raise ValueError(f"the input has {len(found):,} texts; one request may have {MAX_TEXTS:,}")
    if (length := sum(map(len, found))) > MAX_CHARACTERS:
        raise ValueError(f"the input has {length:,} characters; one request may have {MAX_CHARACTERS:,}")
    return found


def embeddings_body(texts: list[str], model: str, fault: str) -> dict[str, Any]:
    """The body with the texts' vectors; the faults ``"null"`` and ``"length"`` remove vectors."""
    vectors = [None if fault == "null" else text_vector(text) for text in texts]
    if fault == "length":
        vectors = vectors[: len(vectors) // 2]
    tokens = sum(1 + len(text) // 4 for text in texts)
    return {
        "object": "list",
        "model": model,
        "data": [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def text_vector(text: str) -> list[float]:
    """A vector of length 1 that counts the text's words by feature hashing.

    See Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009, section 2.
    """
    counts = [0.0] * DIMENSIONS
    for word in re.findall(r"[^\W_]+", text.lower()) or [text]:
        number = int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8])
        counts[number % DIMENSIONS] += 1.0 if number >> 63 else -1.0
    length = math.hypot(*counts)
    return [count / length for count in counts] if length else [1.0, *counts[1:]]


# ------------------------------------------------------------------ faults on purpose

FAULT_KINDS = ("429", "500", "slow", "cut", "garbage", "null", "length")
"""A rate limit with Retry-After, a server error, a slow answer, a connection cut within an answer, bytes that are not
JSON, an answer without text, an answer cut off at its token limit."""


class FaultSettings(msgspec.Struct, frozen=True):
    """The probability of each kind of fault, and its details in seconds.

    ``retry_after`` is the wait that a 429 asks for, ``slow_by`` the delay of a slow answer.
    """

    rates: dict[str, float] = {}
    seed: int = 0
    retry_after: float = 1.0
    slow_by: float = 1.0

    @staticmethod
    def parse(spec: str) -> FaultSettings:
        """Parse ``KIND=RATE,…``. ``all=RATE`` divides a rate among the kinds; seed, retry_after, slow_by are numbers.

        Raises: UsageError: an item is unknown, a number is invalid, or the rates add up to more than 1.
        """
        rates: dict[str, float] = {}
        others: dict[str, Any] = {}
        for item in filter(None, (part.strip() for part in spec.split(","))):
            name, _, text = item.partition("=")
            number = _parse_number(item, text)
            if name == "all":
                rates |= dict.fromkeys(FAULT_KINDS, number / len(FAULT_KINDS))
            elif name in FAULT_KINDS:
                rates[name] = number
            elif name == "seed":
                others["seed"] = int(number)
            elif name in ("retry_after", "slow_by"):
                others[name] = number
            else:
                raise UsageError(
                    f"--faults knows no {name!r}; there are: {', '.join(FAULT_KINDS)}, all, seed, retry_after, slow_by"
                )
        if sum(rates.values()) > 1:
            raise UsageError(f"the rates in --faults {spec} add up to more than 1")
        return FaultSettings(rates, **others)


class FaultChooser:
    """Chooses each request's fault by the seed, the body, and how often the body came before.

    So the choice does not depend on the order of requests from several episodes.
    """

    def __init__(self, faults: FaultSettings) -> None:
        self.faults = faults
        self._request_counts: Counter[str] = Counter()

    def choose_fault(self, body: bytes, requested: str = "") -> str:
        """The request's kind of fault, or empty; ``requested`` is the one that its header names."""
        if requested in FAULT_KINDS:
            return requested
        digest = hashlib.sha256(body).hexdigest()
        self._request_counts[digest] += 1
        left = random.Random(f"{self.faults.seed} {digest} {self._request_counts[digest]}").random()
        for kind, rate in self.faults.rates.items():
            left -= rate
            if left < 0:
                return kind
        return ""


def _parse_number(item: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise UsageError(f"--faults takes KIND=RATE, such as 429=0.05 or all=0.1,seed=7, and not {item!r}")
    return number


# ------------------------------------------------------------------ the endpoint

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


Streams = Literal["yes", "no", "only", "bare"]
"""Whether a server sends streams: if asked, never (it refuses a request for one), only these (it refuses others), or
only these and without ``stream_options``.
"""


class StandInServer:
    """The endpoint, to be started in a running event loop.

    ``latency`` is the time that each answer takes, in seconds; a stream takes it for all of its events. ``log`` is a
    new file for one JSON line per request.

    Raises: UsageError: the log cannot be written.
    """

    def __init__(
        self,
        model: LLM,
        *,
        latency: float = 0.0,
        faults: FaultSettings | None = None,
        log: Path | None = None,
        streams: Streams = "yes",
    ) -> None:
        self._model, self._latency, self._streams = model, latency, streams
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
            only = {"id": "scripted", "object": "model", "created": 0, "owned_by": "codeplan"}
            return JSONResponse({"object": "list", "data": [only]})

        async def not_found(request: Request, error: Exception) -> Response:
            message = f"there is no {request.method} {request.url.path} here"
            return JSONResponse(error_body(message, "not_found_error"), 404)

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
        if isinstance(response, list):
            from starlette.responses import StreamingResponse

            return StreamingResponse(self._send_events(response, entry, began, delay), media_type="text/event-stream")
        await asyncio.sleep(max(0.0, began + delay - asyncio.get_running_loop().time()))
        if await request.is_disconnected():
            entry.usage = None
        self._write_log(entry, began)
        return response

    async def _send_events(
        self, events: list[bytes], entry: RequestLogEntry, began: float, seconds: float
    ) -> AsyncIterator[bytes]:
        """Send the events, spread over so many seconds."""
        is_whole = False
        try:
            for number, event in enumerate(events, 1):
                due = began + seconds * number / len(events)
                await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
                if number == len(events):
                    is_whole = True
                    self._write_log(entry, began)
                yield event
        finally:
            if not is_whole:  # the client has left
                entry.usage = None
                self._write_log(entry, began)

    def _write_log(self, entry: RequestLogEntry, began: float) -> None:
        """Write the log entry, before the client can act on the reply."""
        entry.seconds = round(asyncio.get_running_loop().time() - began, 6)
        if self._log:
            files.write_all(self._log, msgspec.json.encode(entry) + b"\n")

    def _respond(self, body: bytes, entry: RequestLogEntry) -> Response | list[bytes]:
        """The response to a request's body, or the events of a stream; completes the log entry."""
        try:
            request = msgspec.json.decode(body, type=dict)
            entry.model, entry.user = read_name(request, "model"), read_name(request, "user")
            entry.stream = request.get("stream") is True
            if entry.fault in ("429", "500"):
                return self._refuse(entry, int(entry.fault), "a fault made on purpose", "server_error")
            if refusal := self._refuse_stream(request, entry):
                return self._refuse(entry, 400, refusal, "invalid_request_error")
            if entry.fault == "garbage":
                return _response(b"<html>\x00\xff this is no JSON", "text/html")
            if entry.api == "embeddings":
                return _embeddings_response(request, entry)
            completion = self._complete(read_messages(request, entry.api))
        except (ValueError, ModelError) as e:
            return self._refuse(entry, 400, str(e), "invalid_request_error")
        except RecursionError:
            return self._refuse(entry, 400, "the request is nested too deeply", "invalid_request_error")
        reply = ServerReply.from_completion(completion, entry.request, entry.model, entry.fault)
        if entry.fault != "cut":
            entry.usage = {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}
        return _completion_response(reply, request, entry)

    def _refuse_stream(self, request: dict[str, Any], entry: RequestLogEntry) -> str:
        """Why the way in which the request asks for its reply is refused; empty if it is not."""
        if entry.api == "embeddings":
            return ""
        if self._streams == "no" and entry.stream:
            return "stream is not supported"
        if self._streams in ("only", "bare") and not entry.stream:
            return "this model only supports stream mode; set stream to true"
        if self._streams == "bare" and "stream_options" in request:
            return "unrecognized request argument supplied: stream_options"
        return ""

    def _complete(self, messages: list[Message]) -> Completion:
        system, user = ("\n".join(m["content"] for m in messages if m["role"] == role) for role in ("system", "user"))
        return self._model.complete(messages, purpose=infer_purpose(system, user))

    def _refuse(self, entry: RequestLogEntry, status: int, message: str, kind: str) -> Response:
        from starlette.responses import JSONResponse

        entry.status = status
        headers = {"Retry-After": f"{self._fault_chooser.faults.retry_after:g}"} if status == 429 else None
        return JSONResponse(error_body(message, kind), status, headers)


def _embeddings_response(request: dict[str, Any], entry: RequestLogEntry) -> Response:
    body = embeddings_body(read_texts(request), entry.model, entry.fault)
    if entry.fault != "cut":
        entry.usage = {"input_tokens": body["usage"]["prompt_tokens"], "output_tokens": 0}
    return _response(msgspec.json.encode(body), cut=entry.fault == "cut")


def _completion_response(reply: ServerReply, request: dict[str, Any], entry: RequestLogEntry) -> Response | list[bytes]:
    chat, cut = entry.api == "chat", entry.fault == "cut"
    if not entry.stream:
        body = chat_body(reply) if chat else response_body(reply)
        return _response(msgspec.json.encode(body), cut=cut)
    stream_options = request.get("stream_options")
    with_usage = isinstance(stream_options, dict) and stream_options.get("include_usage") is True
    events = list(chat_stream(reply, with_usage) if chat else response_stream(reply))
    return _response(b"".join(events), "text/event-stream", cut=True) if cut else events


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
