"""How the scripted stand-in repairs syntax: line by line, each taken for a whole statement. It parses no Python."""

from __future__ import annotations

import re

_STRING = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_HEADER = re.compile(r"\s*(?:def|if|elif|else|for|while|try|except|finally)\b")
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def repair_syntax(source: str) -> str:
    """The plan with every line closed that lacks a bracket or a colon."""
    return "\n".join(_close_line(line) for line in source.split("\n"))


def repair_line(source: str, line: int) -> str:
    """The plan with a bracket or a colon added where one lacks, at ``line`` or nearest before; as it was if none lacks.

    An interpreter tells where it noticed an error, which may be after the place where it was made.
    """
    lines = source.split("\n")
    for i in reversed(range(min(line, len(lines)))):
        if _close_line(lines[i]) != lines[i]:
            lines[i] = _close_line(lines[i])
            break
    return "\n".join(lines)


def _close_line(line: str) -> str:
    """The line with the brackets and the colon that it lacks."""
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
