"""Makes text from plans, models and environments fit for a terminal: it can neither steer nor flood it."""

from __future__ import annotations

from codeplan.types import Diagnostic

TAB = "    "


def clean(text: str) -> str:
    """The text without control characters, escape codes, invisible characters and lone surrogates. Line ends stay."""
    if text.isprintable():
        return text  # the common case, and lists have thousands of texts
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", TAB)
    return "".join(c for c in lines if c == "\n" or c.isprintable())


def one_line(text: str, width: int = 200) -> str:
    """The text on one line of at most ``width`` characters."""
    line = clean(" ".join(text[: width * 8].split()))
    return line if len(line) <= width else line[: width - 1] + "…"


def clip_lines(text: str, lines: int = 40, characters: int = 4000) -> list[str]:
    """The first lines of the clean text. If something is left out, the last line says how much."""
    kept = clean(text[:characters]).rstrip("\n").split("\n")
    shown = kept[:lines]
    if len(kept) > lines or len(text) > characters:
        shown.append(f"… ({len(text):,} characters in all; the trace has them)")
    return shown


def source_excerpt(source: str, diagnostic: Diagnostic) -> list[str]:
    """The source line of a diagnostic, and a caret under its column; empty if there is no such line."""
    lines = source.splitlines()
    if not 0 < diagnostic.line <= len(lines):
        return []
    line = lines[diagnostic.line - 1]
    start = max(diagnostic.column - 1, 0)
    first = max(0, start - 80)  # show the part of a long line around the column
    before, after = clean(line[first:start]), clean(line[start : start + 40])
    return [before + after] + ([" " * len(before) + "^"] if diagnostic.column else [])
