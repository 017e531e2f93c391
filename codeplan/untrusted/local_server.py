"""Common code of codeplan's local servers: they listen on loopback, and answer only requests meant for them.

A page of another site, open in the user's browser, can send requests to loopback, and a DNS name can be made to point
here. ``LocalOnly`` refuses both, bounds each request's body, and lets no exception of the application out.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from codeplan.errors import UsageError

LOOPBACK = "127.0.0.1"

MAX_CONNECTIONS = 500
"""How many connections a server has at a time; others get the status 503."""

MAX_BODY_SECONDS = 60.0
"""The longest time that a client may take to send a request's body."""

_Scope = MutableMapping[str, Any]
_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]


def uvicorn_settings() -> dict[str, Any]:
    """The settings of uvicorn that all servers share. Raises: ImportError: it is not installed."""
    return {
        "http": "h11",  # it bounds the size of a request's head
        "limit_concurrency": MAX_CONNECTIONS,
        "ws": "none",
        "lifespan": "off",
        "log_config": None,
        "log_level": "critical",  # malformed requests need no warning
        "server_header": False,
        "timeout_graceful_shutdown": 0,
    }


def listen(port: int, host: str = LOOPBACK) -> socket.socket:
    """A socket that listens on loopback; 0 picks a free port.

    Raises: UsageError: the port cannot be used, or this machine does not have the ``host``.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as e:
        reason = getattr(e, "strerror", None) or e
        where = "" if host == LOOPBACK else f" of {host}"
        raise UsageError(f"port {port}{where} cannot be used: {reason}; port 0 takes a free one") from None


class LocalOnly:
    """An ASGI application around another one.

    It refuses requests that come neither from the user's programs nor from its own pages.

    ``headers`` are added to every response. A body of more than ``max_body`` bytes is refused. ``host`` is
    a further name of this server that clients may use.
    """

    def __init__(self, app: _App, port: int, *, max_body: int, headers: Headers = (), host: str = LOOPBACK) -> None:
        self._app, self._max_body, self._headers = app, max_body, tuple(headers)
        self._hosts = {f"{name}:{port}".lower().encode() for name in (LOOPBACK, "localhost", "[::1]", host)}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        reply = _Reply(send, self._headers)
        if not self._is_own(scope["headers"]):
            await reply.refuse(403, "This server answers only this machine's programs and its own pages.")
            return
        body = _BoundedBody(receive, self._max_body, reply)
        with contextlib.suppress(Exception):  # Starlette has answered 500; a traceback would not help the user
            await self._app(scope, body.receive, reply.send)

    def _is_own(self, headers: Headers) -> bool:
        """Whether a request has one Host, which names this server, and comes from no other site."""
        values: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            values.setdefault(name.lower(), []).append(value.lower())
        hosts = values.get(b"host", [])
        origins, sites = values.get(b"origin", []), values.get(b"sec-fetch-site", [])
        return (
            len(hosts) == 1
            and hosts[0] in self._hosts
            and all(origin in self._origins for origin in origins)
            and all(site in (b"none", b"same-origin") for site in sites)
        )


class _BodyRefused(Exception):
    """A request's body was too large or too slow, and the client got an error."""


class _BoundedBody:
    """Passes a request's body on while it is within its bounds."""

    def __init__(self, receive: _Receive, max_bytes: int, reply: _Reply) -> None:
        self._receive, self._left, self._reply, self._is_complete = receive, max_bytes, reply, False
        self._until = asyncio.get_running_loop().time() + MAX_BODY_SECONDS

    async def receive(self) -> _Message:
        """The next part of the body. Raises: _BodyRefused: the body is too large or too slow."""
        if self._is_complete:
            return await self._receive()  # waits for the client to disconnect, without a limit
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            await self._reply.refuse(408, "The body took too long.")
            raise _BodyRefused from None
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            await self._reply.refuse(413, "The body is too large.")
            raise _BodyRefused
        self._is_complete = not message.get("more_body", False)
        return message


class _Reply:
    """Sends a response with more headers, or a refusal in its place."""

    def __init__(self, send: _Send, headers: tuple[tuple[bytes, bytes], ...]) -> None:
        self._send, self._headers = send, headers
        self._has_begun = self._is_refused = False

    async def send(self, message: _Message) -> None:
        """Send a part of the application's response, unless the request was refused."""
        if not self._is_refused:
            await self._pass_on(message)

    async def refuse(self, status: int, sentence: str) -> None:
        """Send one sentence with an error's status, unless a response has begun."""
        if self._has_begun:
            return
        self._is_refused = True
        body = f"{sentence}\n".encode()
        plain = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
        plain.append((b"connection", b"close"))  # the rest of the body is not read
        await self._pass_on({"type": "http.response.start", "status": status, "headers": plain})
        await self._pass_on({"type": "http.response.body", "body": body})

    async def _pass_on(self, message: _Message) -> None:
        if message["type"] == "http.response.start":
            self._has_begun = True
            message = {**message, "headers": [*message.get("headers", []), *self._headers]}
        await self._send(message)
