"""Brings the parts of a reply to the left margin when models indent some of them as inside ``solution``."""

from __future__ import annotations

import re

_GUARD = re.compile(r"[ \t]*+(?:el)?if\b[^\n]*\bstart_from\b")


def align_parts(source: str) -> str:
    """Return the source with each step, and each run of lines between two steps, moved to the left margin.

    A step is its guard and the deeper lines after it. Nothing is parsed: lines of a text in triple quotes may move.
    """
    aligned: list[str] = []
    part: list[str] = []
    for line in source.split("\n"):
        in_step = bool(part) and _is_guard(part[0])
        if _is_guard(line) or (in_step and _is_code(line) and _indent(line) <= _indent(part[0])):
            aligned += _dedent(part)
            part = []
        part.append(line)
    return "\n".join([*aligned, *_dedent(part)])


def _dedent(part: list[str]) -> list[str]:
    margin = min((_indent(line) for line in part if _is_code(line)), default=0)
    return [line[min(margin, _indent(line)) :] for line in part]


def _is_guard(line: str) -> bool:
    return _GUARD.match(line) is not None


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
