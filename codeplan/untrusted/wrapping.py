"""Wraps lines to the width of a terminal.

Output that is no terminal is never wrapped: there, a message is one line, which scripts can search.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TextIO

UNKNOWN_WIDTH = 80
"""The columns of a terminal of unknown width."""

_COMMAND = re.compile(
    r"(?<=: )(?:codeplan|pip|apt-get|make|python3?) (?:(?!; |, | \().)+"  # commands for the reader to run
    r"|'codeplan [^']*'"
    r"|\b(?:codeplan|pip install) [^ ]+"
)
_WORD = re.compile(r"[^ ]+")


def terminal_columns(stream: TextIO) -> int | None:
    """The columns of the terminal that the stream writes to, 80 if unknown; None if it is no terminal."""
    if not stream.isatty():
        return None
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and len(given) < 6 and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or UNKNOWN_WIDTH
    except (OSError, ValueError):
        return UNKNOWN_WIDTH


def wrap_line(line: str, width: int | None, indent: int | None = None) -> list[str]:
    """A line of clean text as rows of at most ``width`` columns; None is no limit.

    ``indent`` is that of the further rows, by default the line's own. A command to copy and a longer word stay whole.
    """
    if width is None:
        return [line]
    first, *others = row_spans(line, width, indent)
    further = " " * row_indent(line, width, indent)
    return [line[slice(*first)], *(further + line[slice(*span)] for span in others)]


def row_indent(line: str, width: int, indent: int | None = None) -> int:
    """The columns before the further rows of a line. A third of the width is left for text at least."""
    if indent is None:
        indent = len(line) - len(line.lstrip(" "))
    return indent if indent <= 2 * width // 3 else 4


def row_spans(line: str, width: int, indent: int | None = None, *, fold: bool = False) -> list[tuple[int, int]]:
    """Where each row begins and ends in the line. ``fold`` breaks longer words and commands, too."""
    from rich.cells import cell_len

    if cell_len(line) <= width:
        return [(0, len(line))]
    further = max(width - row_indent(line, width, indent), 1)
    rows: list[tuple[int, int]] = []
    for start, end in _folded(line, width, further) if fold else _parts(line):
        if rows and cell_len(line[rows[-1][0] : end]) <= (width if len(rows) == 1 else further):
            rows[-1] = rows[-1][0], end
        else:
            rows.append((start if rows else 0, end))
    return rows


def _parts(line: str) -> Iterator[tuple[int, int]]:
    """The words and the commands to copy; none of them may be broken."""
    at = 0
    for command in _COMMAND.finditer(line):
        yield from (word.span() for word in _WORD.finditer(line, at, command.start()))
        yield command.span()
        at = command.end()
    yield from (word.span() for word in _WORD.finditer(line, at))


def _folded(line: str, width: int, further: int) -> Iterator[tuple[int, int]]:
    """The words, in pieces if they are wider than a row."""
    from rich.cells import cell_len, chop_cells

    room = width - (len(line) - len(line.lstrip(" ")))
    room = min(max(room, 1), further)
    for word in _WORD.finditer(line):
        at = word.start()
        for piece in chop_cells(word[0], room) if cell_len(word[0]) > room else [word[0]]:
            yield at, at + len(piece)
            at += len(piece)
