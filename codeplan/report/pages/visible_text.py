"""Text from plans, models and worlds, made fit for a page: what would not be seen, or would steer, becomes visible.

A page never interprets data (its client sets text, and nothing else); but escape codes, invisible marks and characters
that reorder a line would still deceive a reader. A report for a terminal leaves them out; here they are shown.
"""

from __future__ import annotations

from typing import Any

from codeplan.report.text import TAB

_CONTROL_PICTURES = 0x2400


def make_visible(text: str) -> str:
    """The text with every control character, invisible mark and lone surrogate as a sign that names it."""
    text = text.replace("\r\n", "\n").replace("\t", TAB)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c == "\n" or c.isprintable() else _sign(c) for c in text)


def clip(text: str, max_characters: int) -> str | dict[str, Any]:
    """The visible text; where it has more than ``most`` characters, its beginning and how many there are in all."""
    if len(text) <= max_characters:
        return make_visible(text)
    return {"text": make_visible(text[:max_characters]), "whole": len(text)}


def label(text: str, max_characters: int = 300) -> str:
    """The visible text on one line of at most ``most`` characters."""
    line = make_visible(" ".join(text[: max_characters * 8].split()))
    return line if len(line) <= max_characters else line[: max_characters - 1] + "…"


def _sign(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == 0x7F:
        return "␡"
    return f"⟨U+{code:04X}⟩" if character != "\u00a0" else " "
