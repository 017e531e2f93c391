"""Bounds what a server sends. Notifications have no use here: they are counted and dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from codeplan.tools.mcp.messages import mark_as_servers_own
from codeplan.untrusted.json_sizes import has_more_values

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

MAX_MESSAGE_BYTES: Final = 16 << 20
"""Maximum size of one message of a server, in bytes."""

MAX_MESSAGE_VALUES: Final = 500_000
"""Maximum number of JSON values of one message. A plan takes 20,000 of a result; the rest is room for large tables
that come as text too, and for lists of tools. Parsed, so many values take some 200 MB.
"""

MAX_UNSOLICITED: Final = 50_000
"""Maximum number of messages, between two answers, that are no answer."""

MAX_UNSOLICITED_BYTES: Final = 64 << 20
"""Maximum size of these messages together in bytes, if their sizes are known."""


class FloodError(Exception):
    """A server sent too much; the message says what it did, in words that follow its name."""


def require_size(message: bytes | bytearray) -> None:
    """Raises: FloodError: a message that is not parsed yet is too large."""
    if len(message) > MAX_MESSAGE_BYTES:
        raise FloodError(f"sent a message of more than {MAX_MESSAGE_BYTES >> 20} MiB")
    if has_more_values(message, MAX_MESSAGE_VALUES):
        raise FloodError(f"sent a message of more than {MAX_MESSAGE_VALUES:,} JSON values")


class FloodGate:
    """Counts what a server sends between two answers."""

    def __init__(self) -> None:
        self._messages = self._bytes = 0

    def lets_pass(self, message: SessionMessage | Exception, size: int = 0) -> bool:
        """Whether the message is useful. Raises: FloodError: there were too many useless ones."""
        from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCResponse

        found = None if isinstance(message, Exception) else message.message
        if isinstance(found, JSONRPCResponse | JSONRPCError):
            self._messages = self._bytes = 0
            return True
        self._messages += 1
        self._bytes += size
        if self._messages > MAX_UNSOLICITED or self._bytes > MAX_UNSOLICITED_BYTES:
            raise FloodError(f"sent more than {MAX_UNSOLICITED:,} messages that nobody asked for")
        return not isinstance(found, JSONRPCNotification | None)


class GatedStream:
    """A stream of messages from a site, with a FloodGate. A flood ends it."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._gate = stream, FloodGate()
        self.flood: FloodError | None = None
        self.is_over = False
        """Whether no message comes any more."""

    @property
    def last_context(self) -> Any:
        """The context variables of the last message's sender."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        """The next message of use."""
        import anyio
        from mcp_types import REQUEST_TIMEOUT

        while True:
            try:
                message = await self._stream.receive()
                if self._gate.lets_pass(message):
                    return mark_as_servers_own(message, (REQUEST_TIMEOUT,))
            except FloodError as flood:
                self.flood, self.is_over = flood, True
                raise anyio.EndOfStream from None
            except BaseException:  # the stream has ended, or its reader is cancelled because the connection broke
                self.is_over = True
                raise

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> GatedStream:
        return self

    async def __anext__(self) -> Any:
        import anyio

        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> GatedStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
