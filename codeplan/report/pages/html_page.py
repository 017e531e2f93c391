"""The page's HTML. One client serves both kinds of page; the policy lets no other script run."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from codeplan.report.pages.visible_text import label
from codeplan.version import VERSION

PAGE_MARK = b"<!doctype html>\n<!-- codeplan report -->"
"""The first bytes of every page."""

_STYLES = ("base", "tables", "overview", "controls", "list", "episode", "timeline", "skills", "narrow", "print")
_HELPER_SCRIPTS = ("dom", "data", "chart", "plots", "tables")
_VIEW_SCRIPTS = ("overview", "list", "plan", "entries", "timeline", "course", "episode", "skills", "main")


def render_page(title: str, overview: dict[str, Any] | None, blocks: str = "") -> str:
    """The whole page. With an ``overview`` it holds its data, and ``blocks`` more; without, it asks its server."""
    parts = {
        "policy": html.escape(content_security_policy(served=overview is None)),
        "source": "server" if overview is None else "file",
        "version": html.escape(VERSION),
        "title": html.escape(label(title)),
        "style": style(),
        "overview": "" if overview is None else _island(overview),
        "script": script(),
        "blocks": blocks,
    }
    # One pass, so that text like "{title}" inside a part is not replaced.
    return re.sub(r"\{(\w+)\}", lambda place: parts[place[1]], _client("page.html"))


def content_security_policy(served: bool) -> str:
    """The content security policy: only our script, our style and our pictures."""
    own = f"script-src '{_digest(script())}'; style-src '{_digest(style())}'"
    data = "img-src 'self'; connect-src 'self'" if served else "img-src data:"
    refused = "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    return f"default-src 'none'; {own}; {data}; {refused}"


@cache
def script() -> str:
    """The client's script."""
    return (
        '"use strict";\n(() => {\n'
        + "\n".join(_client(f"{name}.js") for name in (*_HELPER_SCRIPTS, *_VIEW_SCRIPTS))
        + "})();\n"
    )


@cache
def style() -> str:
    """The client's style."""
    return "\n".join(_client(f"{name}.css") for name in _STYLES)


def _client(name: str) -> str:
    return files("codeplan.report.pages").joinpath("client", name).read_text("utf-8")


def _island(overview: dict[str, Any]) -> str:
    """The overview as JSON in the page. Without ``<``, no text in it can end the element or begin another."""
    text = msgspec.json.encode(overview).decode().replace("<", "\\u003c")
    return f'<script type="application/json" id="overview">{text}</script>'


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
