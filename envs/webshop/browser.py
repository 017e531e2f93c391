"""The shop as pages in a browser, for a person who wants to do what an agent is asked to do. It serves loopback alone.

What is shown, clicked and rewarded goes through the environment that an agent has, and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from urllib.parse import parse_qs

from codeplan.envs.selection import select
from codeplan.envs.webshop.environment import KIND, WebShop
from codeplan.envs.webshop.formats import write_rich
from codeplan.envs.webshop.pages import PageElement, ShopPage, score_line
from codeplan.errors import UsageError
from codeplan.types.task import Task

HOST = "127.0.0.1"
_MOST_BODY = 20_000

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with none at all, a browser would not say where a form comes from
    "Cache-Control": "no-store",
}

_STYLE = """\
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1d2430; background: #f3f4f6; }
header { background: #1f3a5f; color: #fff; padding: 1rem 0; }
header > div, main, footer { max-width: 50rem; margin: 0 auto; padding: 0 1.25rem; }
header p { margin: 0; font-size: 1.1rem; }
header small, footer { color: #6b7585; }
header small { color: #b9c7da; }
main { background: #fff; margin-top: 1.5rem; border: 1px solid #dfe3e8; border-radius: .5rem; }
main { padding-top: 1.25rem; padding-bottom: 1.25rem; }
p { margin: .35rem 0; }
button { font: inherit; padding: .3rem .8rem; margin: .2rem .3rem .2rem 0; color: inherit; background: #fff; }
button { border: 1px solid #b8c0cc; border-radius: .35rem; cursor: pointer; text-align: left; }
button:hover { border-color: #1f3a5f; }
button.chosen { background: #1f3a5f; color: #fff; border-color: #1f3a5f; }
button.buy { background: #e8a33d; border-color: #c98a2b; font-weight: 600; }
.options { margin: .1rem 0 .7rem; }
.offer { border-top: 1px solid #e6e9ed; padding: .6rem 0; }
input { font: inherit; padding: .35rem .6rem; border: 1px solid #b8c0cc; border-radius: .35rem; }
.search { display: flex; gap: .5rem; margin-bottom: 1rem; }
.search input { flex: 1; min-width: 0; }
footer { padding-bottom: 2rem; }
pre { white-space: pre-wrap; background: #fff; border: 1px solid #dfe3e8; border-radius: .35rem; padding: .75rem; }
"""


class ShopServer(ThreadingHTTPServer):
    """Serves one session, on any free port for 0. ``url`` is where; a browser of this machine reaches it, nobody else.

    Only requests that name this very host are answered, and only forms of its own pages act. Raises UsageError for a
    port that cannot be used, or a task that there is not.
    """

    daemon_threads = True

    def __init__(self, env: WebShop, task: Task, port: int = 0) -> None:
        self.env, self._lock = env, threading.Lock()
        self.begin(task)
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as e:
            raise UsageError(f"port {port} cannot be used: {getattr(e, 'strerror', None) or e}; try --port 0") from None
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}
        self.url = f"http://{HOST}:{self.server_port}/"

    def begin(self, task: Task) -> None:
        """Begin a task, whatever was done before. Raises UsageError for one that there is not."""
        with self._lock:
            self.env.reset(task)
            self._task, self._said = task, ""

    def do(self, action: str) -> None:
        """Do one action; one that leads nowhere is told on the next page."""
        with self._lock:
            before = self.env.page()
            self.env.step(action)
            self._said = "That led nowhere." if self.env.page() == before else ""

    def html(self) -> str:
        """The page as it is now."""
        with self._lock:
            now, shown = self.env.snapshot(), self.env.page()
        return "".join(_document(self._task, shown, now.actions, now.done, self._said))


class _Handler(BaseHTTPRequestHandler):
    timeout = 30
    server_version, sys_version = "codeplan", ""

    def do_GET(self) -> None:
        if not self._is_for_us():
            return
        if self.path == "/":
            self._send(HTTPStatus.OK, self._shop.html())
        elif self.path == "/style.css":
            self._send(HTTPStatus.OK, _STYLE, "text/css")
        else:
            self._send(HTTPStatus.NOT_FOUND, "There is no such page.", "text/plain")

    def do_POST(self) -> None:
        if not self._is_for_us():
            return
        if self.headers.get("Origin") not in {f"http://{host}" for host in self._shop.hosts}:
            self._send(HTTPStatus.FORBIDDEN, "Only a form of this shop's own pages may act here.", "text/plain")
            return
        try:
            self._act()
        except UsageError as e:
            self._send(HTTPStatus.BAD_REQUEST, f"{e}\n", "text/plain")
            return
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", "/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    @property
    def _shop(self) -> ShopServer:
        assert isinstance(self.server, ShopServer), "only a ShopServer has this handler"
        return self.server

    def _act(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or int(length) > _MOST_BODY:
            self.close_connection = True
            raise UsageError("this is no form of the shop's")
        form = parse_qs(self.rfile.read(int(length)).decode("utf-8", "replace"), max_num_fields=5)
        if "task" in form:
            self._shop.begin(select(self._shop.env, id=form["task"][0]))
        elif "query" in form:
            self._shop.do(f"search[{form['query'][0]}]")
        elif "click" in form:
            self._shop.do(f"click[{form['click'][0]}]")

    def _is_for_us(self) -> bool:
        """Whether the request names this host: one that came by another name was led here by somebody's page."""
        if self.headers.get("Host") in self._shop.hosts:
            return True
        self.close_connection = True
        self._send(HTTPStatus.FORBIDDEN, f"This shop is at {self._shop.url}", "text/plain")
        return False

    def _send(self, status: HTTPStatus, text: str, kind: str = "text/html") -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": f"{kind}; charset=utf-8"}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


# ------------------------------------------------------------------ the page as HTML


def _document(task: Task, shown: ShopPage, actions: int, done: bool, said: str) -> Iterator[str]:
    yield "<!doctype html><html lang=en><head><meta charset=utf-8><title>WebShop</title>"
    yield "<meta name=viewport content='width=device-width'><link rel=icon href='data:,'>"
    yield "<link rel=stylesheet href=/style.css></head><body>"
    yield f"<header><div><p>{escape(task.goal)}</p>"
    yield f"<small>Task {escape(task.id)} · {actions} action{'s' * (actions != 1)}</small></div></header><main>"
    told = score_line(shown)
    if told:
        yield f"<p><strong>{escape(shown[0].text)}</strong></p><p>{escape(told)}</p>"
    elif done:
        yield "<p><strong>No actions are left.</strong></p>"
    else:
        yield "<form class=search method=post><input name=query autofocus autocomplete=off aria-label=Search>"
        yield "<button>Search</button></form>"
    yield f"<form method=post>{'' if told else ''.join(_content(shown, done))}</form>"
    yield f"<p role=status>{escape(said)}</p></main><footer>"
    yield f"<form method=post><p><button name=task value='{KIND}/{task.seed + 1}'>Next task</button>"
    yield f"<button name=task value='{escape(task.id)}'>Start over</button></p></form>"
    yield f"<details><summary>What an agent reads</summary><pre>{escape(write_rich(shown))}</pre></details>"
    yield "</footer></body></html>"


def _content(shown: ShopPage, done: bool) -> Iterator[str]:
    """The pieces that the page's head does not show already."""
    rest = shown[3 if shown[0].text == "WebShop" else 2 :]
    inside = False
    for kind, pieces in groupby(rest, key=lambda piece: piece.kind):
        if kind == "asin":
            yield "</div>" * inside + "<div class=offer>"
            inside = True
        html = "".join(_element(piece, done) for piece in pieces)
        yield f"<div class=options>{html}</div>" if kind == "value" else html
    yield "</div>" * inside


def _element(piece: PageElement, done: bool) -> str:
    text = escape(piece.text)
    if piece.kind == "text":
        return f"<p>{text}</p>"
    if piece.text == "Search":
        return ""
    look = "chosen" if piece.chosen else "buy" if piece.text == "Buy Now" else "plain"
    return f"<button name=click value='{text}' class={look}{' disabled' * done}>{text}</button>"
