"""Connects to a server by streamable HTTP, with limits on what it may send."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final

import msgspec

from codeplan.tools.mcp.addresses import ServerAddress
from codeplan.tools.mcp.unsolicited import MAX_MESSAGE_BYTES, FloodError, GatedStream, require_size
from codeplan.untrusted.values import in_quotes

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
    matter: for the official client, a response that pauses for too long breaks the whole connection.
    """

    def __init__(self, address: ServerAddress, seconds: float) -> None:
        self._address, self._seconds = address, seconds
        self._stream: GatedStream | None = None
        self._has_session = False
        self._fault = ""
        self._status = 0

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
        """The status of the last response, if that was an error."""
        return f"HTTP status {self._status}" if self._status >= 400 else ""

    def kill(self) -> None:
        """There is no program to kill."""

    def _refuse(self, flood: FloodError) -> None:
        self._fault = str(flood)

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[tuple[Any, Any]]:
        """Open the connection; the session ends afterwards."""
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        bounded = _bounded_stream_class(httpx2)

        async def check(response: Any) -> None:
            if response.request.method == "POST":  # many servers have no stream for GET, and say 405
                self._status = response.status_code
            if response.status_code == 404 and self._has_session:
                self._fault = "has forgotten the session"
            self._has_session |= "mcp-session-id" in response.headers
            encoding = response.headers.get("content-encoding", "identity")
            if encoding != "identity":
                self._fault = "sent a compressed message, which is not read"
                raise httpx2.DecodingError(f"the encoding {in_quotes(encoding, 40)} was not asked for")
            is_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
            if is_events:
                response.encoding = "utf-8"  # whatever the site says: in other encodings, values are not counted
            response.stream = bounded(response.stream, is_events, self._refuse)

        async def leave_time(request: Any) -> None:
            # read, because the content of a request that was redirected is a stream
            if request.method == "POST" and msgspec.json.decode(await request.aread(), type=_Sent).id is not None:
                request.extensions["timeout"] = {**request.extensions["timeout"], "read": None}

        headers = {**self._address.headers, "accept-encoding": "identity"}
        timeout = httpx2.Timeout(_CONNECT_SECONDS, read=self._seconds)
        limits = httpx2.Limits(keepalive_expiry=_KEPT_SECONDS)
        hooks: dict[str, list[Callable[..., Any]]] = {"request": [leave_time], "response": [check]}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=timeout, limits=limits, event_hooks=hooks) as client,
            streamable_http_client(self._address.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as (
                messages,
                sent,
            ),
        ):
            self._stream = GatedStream(messages)
            yield self._stream, sent


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
