"""Serves the pages to this machine only. Requests cannot write anything, and only the page itself may send them."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from codeplan.errors import UsageError
from codeplan.recording.events import Event, PictureSaved
from codeplan.report.pages.episode_pages import EpisodeView, read_png
from codeplan.report.pages.html_page import content_security_policy, render_page
from codeplan.report.pages.overview import build_overview, skill_details, skills_overview
from codeplan.report.pages.report_source import ReportData, ReportEpisode, ReportSource
from codeplan.report.pages.trace_index import UnreadableEvent
from codeplan.skills.library import SkillLibrary
from codeplan.untrusted.local_server import LOOPBACK, LocalOnly, listen, uvicorn_settings

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


MAX_TEXT_CHARACTERS = 50_000
MAX_WHOLE_TEXT_CHARACTERS = 4_000_000
"""Limits for one text: in a page of events, and for a reader who asks for the whole text."""

_MAX_CACHED_VIEWS = 32

T = TypeVar("T")


class EpisodeCatalog:
    """Answers the server's requests with plain data, or None if there is no such thing. Thread-safe."""

    def __init__(self, source: ReportSource, library: SkillLibrary | None = None) -> None:
        self._source, self._library = source, library
        self._lock = threading.RLock()
        self._numbers: dict[Path, int] = {}
        self._runs: list[ReportEpisode] = []
        self._views: OrderedDict[int, EpisodeView] = OrderedDict()
        self._refresh()

    def overview(self) -> dict[str, Any]:
        """The overview of the folder as it is now. An episode's place in its list is its number."""
        with self._lock:
            report = self._refresh()
            overview = build_overview(report) | {"skills": self._library is not None}
            # A folder of runs may grow while it is shown; one run's folder does not.
            overview["single"] = overview["single"] and self._runs[0].folder == self._runs[0].root
            return overview

    def head(self, number: int) -> dict[str, Any] | None:
        """An episode's head."""
        return self._ask(number, lambda view: view.head())

    def page(self, number: int, page: int) -> dict[str, Any] | None:
        """A page of an episode's events."""
        return self._ask(number, lambda v: v.page(page) if 0 <= page < len(v.index.refresh().pages) else None)

    def item(self, number: int, event: int) -> dict[str, Any] | None:
        """One event with its whole texts."""
        return self._ask(number, lambda view: view.item(event, MAX_WHOLE_TEXT_CHARACTERS))

    def event(self, number: int, event: int) -> tuple[Path, Event | UnreadableEvent | None] | None:
        """The folder of an episode, and one event of it."""
        return self._ask(number, lambda view: (view.folder, view.event(event)))

    def skills(self) -> dict[str, Any] | None:
        """The library's overview."""
        return skills_overview(self._library) if self._library else None

    def skill(self, env: str, name: str) -> dict[str, Any] | None:
        """One skill in full."""
        if self._library is None:
            return None
        with self._lock:
            episodes = {folder.resolve(): number for folder, number in self._numbers.items()}
        return skill_details(self._library, env, name, episodes)

    def _refresh(self) -> ReportData:
        """Read the folder again. New episodes come after the known ones."""
        report = self._source.read()
        for run in report.episodes:
            number = self._numbers.setdefault(run.folder, len(self._numbers))
            self._runs[number : number + 1] = [run]
            if number in self._views:
                self._views[number].episode = run
        return msgspec.structs.replace(report, episodes=tuple(self._runs))

    def _ask(self, number: int, read: Callable[[EpisodeView], T | None]) -> T | None:
        """The result of ``read`` for an episode; None if there is no such episode."""
        with self._lock:
            view = self._episode(number)
            return read(view) if view else None

    def _episode(self, number: int) -> EpisodeView | None:
        if not 0 <= number < len(self._runs):
            return None
        if number not in self._views:

            def picture(event: int, file: str) -> str:
                return f"api/episodes/{number}/pictures/{event}"

            self._views[number] = EpisodeView(self._runs[number], picture, MAX_TEXT_CHARACTERS)
        self._views.move_to_end(number)
        while len(self._views) > _MAX_CACHED_VIEWS:
            self._views.popitem(last=False)
        view = self._views[number]
        if not view.index.count:
            view.index.refresh()
        return view


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
