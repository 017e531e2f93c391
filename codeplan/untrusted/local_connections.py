"""Bounds the connections of codeplan's local servers: their number, and the time that a request's head may take.

Otherwise programs that connect and send nothing, or a byte a minute, would use up the process's open files.
"""

from __future__ import annotations

import asyncio
from typing import Any

MAX_HEAD_SECONDS = 10.0
"""The longest time that a client may take to send a request's head."""

ACCEPTED_AT_ONCE = 128
"""How many waiting connections asyncio accepts before it asks whether there are too many."""

_USUAL_OPEN_FILES = 1024  # where the system does not say how many this process may open


def max_connections() -> int:
    """How many connections a server accepts at a time: two thirds of the files that this process may open."""
    try:
        import resource
    except ImportError:  # Windows
        return _USUAL_OPEN_FILES * 2 // 3
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return (_USUAL_OPEN_FILES if files == resource.RLIM_INFINITY else files) * 2 // 3


def bounded_protocol() -> type[asyncio.Protocol]:
    """The class of connections for uvicorn's setting ``http``."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    most = max_connections()

    class BoundedConnection(H11Protocol):
        """A connection that is closed if there are too many, or if a request's head takes too long."""

        _head_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            if len(self.connections) >= most:
                self.transport = transport  # connection_lost closes it
                transport.abort()
                return
            super().connection_made(transport)
            self._watch_head()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch_head()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.conn.trailing_data[0]:  # the start of a further head; otherwise uvicorn's own timer runs
                self._watch_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _watch_head(self) -> None:
            """Start the timer while a head is awaited, and stop it when the head is complete."""
            if self.conn.their_state is not h11.IDLE:
                self._stop_timer()
            elif self._head_timer is None:
                self._head_timer = self.loop.call_later(MAX_HEAD_SECONDS, self.transport.close)

        def _stop_timer(self) -> None:
            if self._head_timer is not None:
                self._head_timer.cancel()
                self._head_timer = None

    return BoundedConnection
