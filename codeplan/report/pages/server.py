"""Serves the pages to this machine only. Nothing can be written, and only the page itself may ask."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from codeplan.errors import UsageError
from codeplan.recording.events import PictureSaved
from codeplan.report.pages.catalog import EpisodeCatalog
from codeplan.report.pages.html_page import content_security_policy, render_page
from codeplan.report.pages.pictures import read_png

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = "127.0.0.1"


def serve(catalog: EpisodeCatalog, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve until interrupted. ``on_ready`` gets the address.

    Raises: UsageError: the extra ``web`` is not installed, or the port cannot be used.
    """
    try:
        import uvicorn
    except ImportError:
        raise UsageError("codeplan view needs the extra web: pip install 'codeplan[web]'") from None
    listener = _listen(port)
    port = listener.getsockname()[1]
    settings: dict[str, Any] = {"log_level": "warning", "lifespan": "off", "ws": "none", "server_header": False}
    server = uvicorn.Server(uvicorn.Config(application(catalog, port), **settings))
    on_ready(f"http://{LOOPBACK}:{port}/")
    server.run(sockets=[listener])


def application(catalog: EpisodeCatalog, port: int) -> ASGIApp:
    """The application that serves the catalog to pages of its own origin, at this port."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import Response
    from starlette.routing import Route

    def answer(read: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            try:
                answer = await run_in_threadpool(read, request)
            except UsageError as e:
                return Response(str(e), 500, media_type="text/plain")
            return _answer(request, answer)

        return endpoint

    def number(request: Request, name: str) -> int:
        return int(request.path_params[name])

    def skill(request: Request) -> Any:
        return catalog.skill(request.path_params["env"], request.path_params["name"])

    reads: dict[str, Callable[[Request], Any]] = {
        "/": lambda r: render_page("codeplan", None),
        "/api/overview": lambda r: catalog.overview(),
        "/api/skills": lambda r: catalog.skills(),
        "/api/skills/{env}/{name}": skill,
        "/api/episodes/{id:int}": lambda r: catalog.head(number(r, "id")),
        "/api/episodes/{id:int}/pages/{page:int}": lambda r: catalog.page(number(r, "id"), number(r, "page")),
        "/api/episodes/{id:int}/events/{event:int}": lambda r: catalog.item(number(r, "id"), number(r, "event")),
        "/api/episodes/{id:int}/pictures/{event:int}": lambda r: _picture(catalog, number(r, "id"), number(r, "event")),
    }
    return _Guard(Starlette(routes=[Route(path, answer(read)) for path, read in reads.items()]), port)


class _Guard:
    """Refuses requests from other sites and for other host names, and adds the security headers.

    This stops a foreign site in the reader's browser, and DNS names that were made to point here.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        names = (LOOPBACK, "localhost", "[::1]")
        self._app = app
        self._hosts = {f"{name}:{port}".encode() for name in names}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.responses import PlainTextResponse

        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        own = headers.get(b"host") in self._hosts
        own = own and headers.get(b"origin", next(iter(self._origins))) in self._origins
        own = own and headers.get(b"sec-fetch-site", b"none") in (b"none", b"same-origin")
        app = self._app if own else PlainTextResponse("Only the page itself may ask this server.\n", 403)

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_headers()]
            await send(message)

        await app(scope, receive, send_with_headers)


def _headers() -> list[tuple[bytes, bytes]]:
    return [
        (b"content-security-policy", f"{content_security_policy(served=True)}; frame-ancestors 'none'".encode()),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"cache-control", b"no-store"),
    ]


def _answer(request: Request, answer: Any) -> Response:
    """The page, a picture or data as a response; 304 if the client has the data, 404 if there is none."""
    from starlette.responses import Response

    if answer is None:
        return Response("There is nothing at this address.\n", 404, media_type="text/plain")
    if isinstance(answer, str):
        return Response(answer, media_type="text/html")
    if isinstance(answer, bytes):
        return Response(answer, media_type="image/png")
    content = msgspec.json.encode(answer)
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(content, media_type="application/json", headers={"ETag": tag})


def _picture(catalog: EpisodeCatalog, number: int, event: int) -> bytes | None:
    located = catalog.event(number, event)
    if located is None or not isinstance(located[1], PictureSaved):
        return None
    return read_png(located[0], located[1].file)


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen()  # connections wait from now on, so the address can be announced
    except OSError as e:
        listener.close()
        raise UsageError(f"port {port} cannot be used: {e.strerror}; --port 0 takes a free one") from None
    return listener
