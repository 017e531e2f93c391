"""The transport of the protocol's first version: a stream of events for what the server sends, and an address, which it
names in the stream, for what it gets.

The official client's own ends without a word if a message is refused, and takes no event of more than 1 MiB.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from codeplan.tools.mcp.http_answers import CURRENT_REPORT, HttpReport, note_response
from codeplan.tools.mcp.messages import MAX_MESSAGE_BYTES, UnreadableAnswer, read_message
from codeplan.untrusted.texts import one_line

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
