"""Makes a plan with a syntax error readable, if a reply replaces the parts of it that are wrong."""

from __future__ import annotations

import re
from collections.abc import Collection

_GUARD = re.compile(r"[ \t]*+(?:el)?if\b[^\n]*?\bstart_from\s*<=\s*(\d{1,7})\b")
_DEFINITION = re.compile(r"[ \t]*+(?:def[ \t]++(\w++)|(\w++)[ \t]*+(?::[^=\n]*+)?=(?!=))")


def leave_out_parts(source: str, numbers: Collection[int], names: Collection[str]) -> str:
    """Return the plan without the bodies of these steps and without the definitions of these names.

    The parts are recognised by their first lines and their indentation; nothing is parsed.
    """
    lines = source.split("\n")
    margin = next((_indent(line) for line in lines if _GUARD.match(line)), 0)
    kept: list[str] = []
    is_left_out = False
    for line in lines:
        if line.strip() and _indent(line) <= margin and line.lstrip()[0] not in ")]}":
            empty = _empty_part(line, numbers, names)
            is_left_out = empty is not None
            kept += [line] if empty is None else [f"{line[: _indent(line)]}{empty}"]
        elif not is_left_out or not line.strip():
            kept.append(line)
    return "\n".join(kept)


def _empty_part(line: str, numbers: Collection[int], names: Collection[str]) -> str | None:
    """Return a statement of one line in place of the part that begins here; None if the part stays."""
    guard = _GUARD.match(line)
    if guard:
        return f"if start_from <= {guard[1]}: pass" if int(guard[1]) in numbers else None
    found = _DEFINITION.match(line)
    name = (found[1] or found[2]) if found else None
    return f"{name} = None" if name in names else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
