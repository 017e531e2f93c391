"""Repairs syntax line by line, taking each line for a whole statement, without parsing Python."""

from __future__ import annotations

import re

_STRING = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_HEADER = re.compile(r"\s*(?:def|if|elif|else|for|while|try|except|finally)\b")
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def repair_syntax(source: str) -> str:
    """The plan with all missing brackets and colons added."""
    return "\n".join(_close_line(line) for line in source.split("\n"))


def repair_line(source: str, line: int) -> str:
    """The plan with what is missing added to the nearest incomplete line at or before ``line``.

    Python reports where it noticed an error, which may be after its cause.
    """
    lines = source.split("\n")
    for i in reversed(range(min(line, len(lines)))):
        if _close_line(lines[i]) != lines[i]:
            lines[i] = _close_line(lines[i])
            break
    return "\n".join(lines)


def _close_line(line: str) -> str:
    """The line with its missing brackets and colon."""
    bare = _STRING.sub("''", line).split("#")[0].rstrip()
    open_brackets = _open_brackets(bare)
    is_header = _HEADER.match(line) is not None
    if not open_brackets and (not is_header or ":" in bare):
        return line
    stem = line.rstrip()
    body = stem[:-1] if is_header and stem.endswith(":") else stem
    return body + "".join(_PAIRS[b] for b in reversed(open_brackets)) + (":" if is_header else "")


def _open_brackets(bare: str) -> list[str]:
    stack: list[str] = []
    for c in bare:
        if c in _PAIRS:
            stack.append(c)
        elif stack and c == _PAIRS[stack[-1]]:
            stack.pop()
    return stack
