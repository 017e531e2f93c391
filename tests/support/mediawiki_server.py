"""A fake MediaWiki server on loopback, with revisions, redirects, searches and configurable failures."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGES = {
    "Ada Lovelace": [
        (11, "2015-03-01T10:00:00Z", "<p>Ada was a <b>countess</b>. She wrote notes.</p>"),
        (
            12,
            "2017-10-01T23:59:59Z",
            '<style>.x{}</style><table class="infobox"><tr><td>Born 1815</td></tr></table>'
            "<p>Ada Lovelace was an English mathematician.<sup class='reference'><a href='#n'>[1]</a></sup> She was\n"
            "born in London.</p>\n<h2>Work<span class='mw-editsection'>[edit]</span></h2>"
            "<ul><li>Notes on the Analytical Engine<ul><li>Note G, a programme</li></ul></li></ul>"
            "<p>She worked with Charles Babbage &amp; others.</p><p>Two words</p>"
            '<div role="navigation"><ul><li>Many other pages here</li></ul></div><script>alert("x")</script>',
        ),
        (13, "2020-01-01T00:00:00Z", "<p>Ada Lovelace is known to all. There is a day named after her.</p>"),
    ],
    "Young page": [(30, "2021-01-01T00:00:00Z", "<p>This page is young, and short.</p>")],
    "Mercury": [
        (40, "2001-01-01T00:00:00Z", "<p>Mercury may refer to:</p><ul><li>Mercury (planet), a planet</li></ul>")
    ],
    "Mercury (planet)": [(41, "2001-01-01T00:00:00Z", "<p>Mercury is the first planet.</p>")],
    "Empty": [(42, "2001-01-01T00:00:00Z", "")],
}
REDIRECTS = {"Countess of Lovelace": "Ada Lovelace"}
NAMESPACES = {"Talk": 1, "User": 2, "Special": -1}


class WikiServer:
    """A running server. It sends each of ``answers`` (status, headers, body) once, before its own answers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[dict[str, str]] = []
        self.at: list[float] = []
        self.agents: list[str] = []
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.most_at_once = self.at_once = 0
        self.lock = threading.Lock()

    def will_answer(self, status: int = 200, body: object = b"", **headers: str) -> None:
        """Queue an answer for the next request."""
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers.append((status, {name.replace("_", "-"): value for name, value in headers.items()}, text))


@contextmanager
def wiki_server() -> Iterator[WikiServer]:
    """Run a server until the end of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = False
    server.wiki = WikiServer(f"http://127.0.0.1:{server.server_port}/w/api.php")  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.wiki  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        wiki: WikiServer = self.server.wiki  # type: ignore[attr-defined]
        asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        with wiki.lock:
            wiki.at_once += 1
            wiki.most_at_once = max(wiki.at_once, wiki.most_at_once)
            wiki.asked.append(asked)
            wiki.at.append(time.monotonic())
            wiki.agents.append(self.headers.get("User-Agent", ""))
            given = wiki.answers.pop(0) if wiki.answers else None
        answer = given or self._own(asked)
        time.sleep(0.002)  # make concurrent requests overlap
        with wiki.lock:
            wiki.at_once -= 1
        self._send(*answer)

    def _own(self, asked: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        if not re.search(r"\(.*@.*\)", self.headers.get("User-Agent", "")):
            return 403, {}, b"Please set a user-agent and respect our robot policy"
        assert asked["format"] == "json"
        assert asked["formatversion"] == "2"
        answer = {"query": _query, "parse": _parse}[asked["action"]](asked)
        return 200, {"Content-Type": "application/json"}, json.dumps(answer).encode()

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body)), "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def _query(asked: dict[str, str]) -> dict[str, object]:
    if asked.get("list") == "search":
        return {"batchcomplete": True, "query": {"search": [{"ns": 0, "title": t, "pageid": 1} for t in _hits(asked)]}}
    assert asked["rvlimit"] == "1"
    query: dict[str, object] = {"pages": [_page(REDIRECTS.get(asked["titles"], asked["titles"]), asked.get("rvstart"))]}
    if asked["titles"] in REDIRECTS:
        query["redirects"] = [{"from": asked["titles"], "to": REDIRECTS[asked["titles"]]}]
    return {"batchcomplete": True, "query": query}


def _page(title: str, until: str | None) -> dict[str, object]:
    if re.search(r"[#<>\[\]{}|]", title):
        return {
            "title": title,
            "invalidreason": "The requested page title contains invalid characters",
            "invalid": True,
        }
    space = NAMESPACES.get(title.partition(":")[0], 0)
    if space:
        return {"ns": space, "title": title, "revisions": [{"revid": 99, "parentid": 0}]}
    if title not in PAGES:
        return {"ns": 0, "title": title, "missing": True}
    number = [revision for revision, at, _ in PAGES[title] if until is None or at <= until]
    found = {"revisions": [{"revid": number[-1], "parentid": 0}]} if number else {}
    return {"pageid": 7, "ns": 0, "title": title, **found}


def _hits(asked: dict[str, str]) -> list[str]:
    words = asked["srsearch"].lower()
    if asked.get("srwhat") == "nearmatch":
        return [t for t in PAGES if t.lower() == words]
    found = [t for t in PAGES if set(re.findall(r"\w+", words)) & set(re.findall(r"\w+", t.lower()))]
    return found[: int(asked["srlimit"])]


def _parse(asked: dict[str, str]) -> dict[str, object]:
    texts = {revision: (title, html) for title, kept in PAGES.items() for revision, _, html in kept}
    if int(asked["oldid"]) not in texts:
        return {"error": {"code": "nosuchrevid", "info": f"There is no revision with ID {asked['oldid']}."}}
    title, html = texts[int(asked["oldid"])]
    return {"parse": {"title": title, "pageid": 7, "text": f'<div class="mw-parser-output">{html}</div>'}}
