"""Makes text from plans, models and environments safe for a page: invisible characters become visible signs.

The client sets data as text and never interprets it. Escape codes, invisible characters and those that reorder a line
could still deceive a reader, so the page shows them as signs. The terminal's texts omit them.
"""

from __future__ import annotations

from typing import Any

from codeplan.untrusted.terminal import TAB

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
    line = make_visible(" ".join(text[: max_characters * 8].split()))
    return line if len(line) <= max_characters else line[: max_characters - 1] + "…"


def _sign(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == 0x7F:
        return "␡"
    return f"⟨U+{code:04X}⟩" if character != "\u00a0" else " "
