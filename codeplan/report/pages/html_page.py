"""The page: its HTML, and the texts of plans, models and environments in it.

One client serves both kinds of page; the policy lets no other script run. The client sets data as text and never
interprets it. Escape codes, invisible characters and those that reorder a line could still deceive a reader, so the
page shows them as signs. The terminal omits them.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from codeplan.sandbox import CheckpointError, decode
from codeplan.types import Checkpoint
from codeplan.untrusted import values
from codeplan.untrusted.comparison import DiffEffort, DiffRow, compare_lines
from codeplan.untrusted.texts import TAB, shorten
from codeplan.untrusted.values import VariableTexts
from codeplan.version import VERSION

_CONTROL_PICTURES = 0x2400


def make_visible(text: str) -> str:
    """The text with a sign for every control character, invisible character and lone surrogate."""
    text = text.replace("\r\n", "\n").replace("\t", TAB)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c == "\n" or c.isprintable() else _sign(c) for c in text)


def clip(text: str, max_characters: int) -> str | dict[str, Any]:
    """The visible text. A text of more than ``max_characters`` becomes its beginning and its length."""
    if len(text) <= max_characters:
        return make_visible(text)
    return {"text": make_visible(text[:max_characters]), "whole": len(text)}


def label(text: str, max_characters: int = 300) -> str:
    """The visible text on one line of at most ``max_characters``."""
    return shorten(make_visible(" ".join(text[: max_characters * 8].split())), max_characters)


def _sign(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == 0x7F:
        return "␡"
    return f"⟨U+{code:04X}⟩" if character != "\u00a0" else " "


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


MAX_PLAN_LINES = 1500
MAX_PLAN_CHARACTERS = 200_000
"""Limits for one plan. Each page of events holds the plan before it. The check refuses plans over 64,000 bytes."""

_STEP = re.compile(r"^( *)if start_from <= (\d{1,6}):")


def plan_layout(source: str) -> dict[str, Any]:
    """The plan's lines, the number of all its lines, and its steps as [number, first line, last line]."""
    lines = _lines(source)
    return {"lines": lines, "whole": source.count("\n") + 1, "steps": step_ranges(lines)}


def step_ranges(lines: list[str]) -> list[list[int]]:
    """[number, first line, last line] of each step; lines count from 1."""
    ranges: list[list[int]] = []
    depth = -1
    for at, line in enumerate(lines, 1):
        if match := _STEP.match(line):
            depth = len(match[1])
            ranges.append([int(match[2]), at, at])
        elif ranges and line.strip():
            if len(line) - len(line.lstrip()) <= depth and not line.lstrip().startswith("#"):
                depth = -1
            if depth >= 0:
                ranges[-1][2] = at
    return ranges


def diff_rows(before: str, after: str, effort: DiffEffort | None = None) -> list[DiffRow]:
    """The first lines of both plans, compared; ``effort`` is as for ``compare_lines``."""
    return list(compare_lines(_lines(before), _lines(after), effort))


def _lines(source: str) -> list[str]:
    return [
        make_visible(line[:2000]) for line in source[:MAX_PLAN_CHARACTERS].split("\n", MAX_PLAN_LINES)[:MAX_PLAN_LINES]
    ]


MAX_VARIABLE_CHARACTERS = 60_000
"""The room of all variables of one checkpoint on a page."""


def variable_texts(checkpoint: Checkpoint, max_each: int) -> VariableTexts:
    """The saved variables as text, each of at most ``max_each`` characters; none if the checkpoint is damaged."""
    try:
        decoded = decode(checkpoint)
    except CheckpointError:
        return VariableTexts({}, [], 0, False)
    return values.variable_texts(decoded, MAX_VARIABLE_CHARACTERS, max_each=max_each)


def dropped_variables(checkpoint: Checkpoint) -> dict[str, str]:
    """The variables that were not saved, with reasons; if the checkpoint is damaged, the damage."""
    try:
        decode(checkpoint)
    except CheckpointError as e:
        return {"": make_visible(str(e))}
    return {make_visible(name): make_visible(reason) for name, reason in checkpoint.dropped.items()}
