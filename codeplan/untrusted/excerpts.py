"""Cuts long texts at the ends of lines, and says how much is left out."""

from __future__ import annotations

from typing import Final

from codeplan.untrusted.noun_phrases import with_count

_MARK_ROOM: Final = 48  # characters of the mark and the line ends around it
_MAX_LINE_PART: Final = 0.5  # a line that takes more than this part of the room is cut within


def excerpt(text: str, max_characters: int, *, start: float = 1.0, margin: int = 0) -> str:
    """The text in at most ``max_characters``. A line in brackets stands for what is left out.

    ``start`` is the part of the room for the text's start; the rest shows its end. Lines stay whole, unless one is too
    long for half the room. The mark has ``margin`` spaces in front of it.
    """
    if len(text) <= max_characters:
        return text
    room = max(0, max_characters - _MARK_ROOM)
    head, tail = _whole_lines(text, int(room * start)), _last_whole_lines(text, room - int(room * start))
    mark = " " * margin + left_out(len(text) - len(head) - len(tail), "character")
    return "\n".join(part for part in (head.rstrip("\n"), mark, tail.lstrip("\n")) if part)


def left_out(count: int, what: str) -> str:
    """The mark in a prompt that stands for things of a kind, such as ``"character"``."""
    return f"[{with_count(count, what)} left out]"


def _whole_lines(text: str, room: int) -> str:
    """The first lines that fit."""
    end = text.rfind("\n", 0, room + 1)
    return text[: end if end >= room * _MAX_LINE_PART else room]


def _last_whole_lines(text: str, room: int) -> str:
    """The last lines that fit."""
    begin = text.find("\n", len(text) - room - 1) + 1 if room else 0
    return text[begin if 0 < begin <= len(text) - room * _MAX_LINE_PART else len(text) - room :]
