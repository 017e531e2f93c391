"""Serves clients over streamable HTTP, on loopback unless the user names another address."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from codeplan.errors import UsageError
from codeplan.mcp_server.stdio import MAX_MESSAGE_BYTES, MAX_MESSAGE_VALUES
from codeplan.untrusted.json_sizes import has_more_values
from codeplan.untrusted.local_server import LOOPBACK, LocalOnly, listen, uvicorn_settings
from codeplan.untrusted.values import in_quotes

if TYPE_CHECKING:
    from mcp.server import Server

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
        whole = [{**parts[-1], "body": body}]

        async def receive_again() -> Any:
            return whole.pop() if whole else await receive()

        await self._app(scope, receive_again, send)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
