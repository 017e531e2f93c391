"""Serves the pages to this machine only. Requests cannot write anything, and only the page itself may send them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from codeplan.errors import UsageError
from codeplan.recording.events import PictureSaved
from codeplan.report.pages.catalog import EpisodeCatalog
from codeplan.report.pages.html_page import content_security_policy, render_page
from codeplan.report.pages.pictures import read_png
from codeplan.untrusted.local_server import LOOPBACK, LocalOnly, listen, uvicorn_settings

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MAX_BODY_BYTES = 10_000
"""The largest body of a request. The page sends none."""

_NUMBER = re.compile(r"[0-9]{1,9}")


def serve(catalog: EpisodeCatalog, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve until interrupted. ``on_ready`` gets the address.

    Raises: UsageError: the extra ``web`` is not installed, or the port cannot be used.
    """
    try:
        import uvicorn
    except ImportError:
        raise UsageError("view needs the extra web; install it: pip install 'codeplan[web]'") from None
    listener = listen(port)
    port = listener.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(application(catalog, port), **uvicorn_settings()))
    on_ready(f"http://{LOOPBACK}:{port}/")
    server.run(sockets=[listener])


def application(catalog: EpisodeCatalog, port: int) -> LocalOnly:
    """The application that serves the catalog to pages of its own origin, at this port."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import Response
    from starlette.routing import Route

    def answer(read: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            try:
                answer = await run_in_threadpool(read, request)
            except _NoNumber:
                answer = None
            except UsageError as e:
                return Response(str(e), 500, media_type="text/plain")
            return _answer(request, answer)

        return endpoint

    def number(request: Request, name: str) -> int:
        text = request.path_params[name]
        if not _NUMBER.fullmatch(text):
            raise _NoNumber
        return int(text)

    def skill(request: Request) -> Any:
        return catalog.skill(request.path_params["env"], request.path_params["name"])

    reads: dict[str, Callable[[Request], Any]] = {
        "/": lambda r: render_page("codeplan", None),
        "/api/overview": lambda r: catalog.overview(),
        "/api/skills": lambda r: catalog.skills(),
        "/api/skills/{env}/{name}": skill,
        "/api/episodes/{id}": lambda r: catalog.head(number(r, "id")),
        "/api/episodes/{id}/pages/{page}": lambda r: catalog.page(number(r, "id"), number(r, "page")),
        "/api/episodes/{id}/events/{event}": lambda r: catalog.item(number(r, "id"), number(r, "event")),
        "/api/episodes/{id}/pictures/{event}": lambda r: _picture(catalog, number(r, "id"), number(r, "event")),
    }
    app = Starlette(routes=[Route(path, answer(read)) for path, read in reads.items()])
    return LocalOnly(app, port, max_body=MAX_BODY_BYTES, headers=_headers())


class _NoNumber(Exception):
    """A part of the path is not a number."""


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
