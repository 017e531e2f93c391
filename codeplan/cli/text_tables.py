"""Tables as lines of text. A table that is too wide for the terminal is narrowed, then split. No figure is ever cut.

Plain columns, because a library of skills may have ten thousand rows.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from itertools import zip_longest

from rich.cells import cell_len, chop_cells

from codeplan.untrusted.texts import terminal_columns

Row = Sequence[str]

_MIN_TEXT = 20
"""A column of text is not made narrower than this, in characters."""

_PARTS = re.compile(r"[^ /.,_=-]*[ /.,_=-]?")
_WORDS = re.compile(r" (?=\w)")
_FIGURE = re.compile(r"[-+<–—]? ?[$\d].*|[-–]?", re.DOTALL)


def terminal_width() -> int | None:
    """The columns of the terminal on standard output; None if it is no terminal."""
    return terminal_columns(sys.stdout)


def format_table(
    head: Row, rows: Sequence[Row], *, labels: int = 1, width: int | None = None, groups: Sequence[str] = ()
) -> list[str]:
    """The rows under their head, in columns; columns of figures are right-aligned.

    ``width`` is the terminal's, None for no limit. A wider table gets narrower gaps, then folded heads, then folded
    texts. If that is not enough, more columns follow in tables below, which begin with the ``labels`` first columns.
    ``groups`` names each row's group: a line of its own above the group's first row.
    """
    columns = [list(column) for column in zip(head, *rows, strict=True)]
    figures = [at >= labels and all(map(_FIGURE.fullmatch, column[1:])) for at, column in enumerate(columns)]
    widths = [max(map(cell_len, column)) for column in columns]
    if width is None or _total(widths, 2) <= width:
        return _lines(columns, widths, figures, 2, groups)
    if _total(widths, 1) <= width:
        return _lines(columns, widths, figures, 1, groups)
    widths = [
        max(map(cell_len, [*column[1:], *_WORDS.split(column[0])])) if is_figure else whole
        for column, is_figure, whole in zip(columns, figures, widths, strict=True)
    ]
    narrow = _fold_texts(widths, figures, width)
    if _total(narrow, 1) <= width:
        return _lines(columns, narrow, figures, 1, groups)
    narrow = _capped(widths, labels, width)
    lines: list[str] = []
    for chosen in _panels(narrow, labels, width):
        lines += [""] if lines else []
        lines += _lines(
            [columns[at] for at in chosen], [narrow[at] for at in chosen], [figures[at] for at in chosen], 1, groups
        )
    return lines


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _fold_texts(widths: Sequence[int], figures: Sequence[bool], width: int) -> list[int]:
    """The widths after the widest columns of text gave up what is too much, as far as they can."""
    found = list(widths)
    texts = [at for at, is_figure in enumerate(figures) if not is_figure]
    while _total(found, 1) > width:
        widest = max(texts, key=found.__getitem__, default=None)
        if widest is None or found[widest] <= _MIN_TEXT:
            return found
        found[widest] -= 1
    return found


def _capped(widths: Sequence[int], labels: int, width: int) -> list[int]:
    """Widths with which the labels and any one other column fit."""
    cap = max(2 * width // (labels + 4), 8)
    capped = [min(w, cap) for w in widths[:labels]]
    room = max(width - _total(capped, 1) - 1, 8)
    return [*capped, *(min(w, room) for w in widths[labels:])]


def _panels(widths: Sequence[int], labels: int, width: int) -> list[list[int]]:
    """The columns of each table: the labels and as many others as fit, spread evenly over the tables."""
    filled = _filled(widths, labels, width, len(widths))
    even = _filled(widths, labels, width, -(-(len(widths) - labels) // len(filled)))
    return even if len(even) == len(filled) else filled


def _filled(widths: Sequence[int], labels: int, width: int, most: int) -> list[list[int]]:
    """The columns of each table, with at most ``most`` beside the labels."""
    panels = [list(range(labels))]
    for at in range(labels, len(widths)):
        others = len(panels[-1]) - labels
        if others >= most or (others and _total([widths[i] for i in [*panels[-1], at]], 1) > width):
            panels.append(list(range(labels)))
        panels[-1].append(at)
    return panels


def _lines(
    columns: Sequence[Row], widths: Sequence[int], figures: Sequence[bool], gap: int, groups: Sequence[str]
) -> list[str]:
    head, *rows = zip(*columns, strict=True)
    lines = [*_row_lines(head, widths, figures, gap), "─" * _total(widths, gap)]
    before = ""
    for group, row in zip(groups or [""] * len(rows), rows, strict=True):
        lines += [group] if group != before else []
        lines += _row_lines(row, widths, figures, gap)
        before = group
    return lines


def _row_lines(row: Row, widths: Sequence[int], figures: Sequence[bool], gap: int) -> list[str]:
    """The lines of a row: several if a cell is folded."""
    folded = [_fold(cell, width) for cell, width in zip(row, widths, strict=True)]
    parts = zip_longest(*folded, fillvalue="")
    return [(" " * gap).join(map(_aligned, cells, widths, figures)).rstrip() for cells in parts]


def _aligned(text: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if right else text + space


def _fold(text: str, width: int) -> list[str]:
    """The text in lines of at most ``width`` columns, broken after a space or a sign where possible.

    Each line keeps the text's indent.
    """
    if cell_len(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip(" "))][: width // 2]
    room, lines = width - len(indent), [indent]
    for part in _PARTS.findall(text.lstrip(" ")):
        for piece in chop_cells(part, room) if cell_len(part) > room else [part]:
            if cell_len(lines[-1] + piece.rstrip()) > width:
                lines.append(indent)
            lines[-1] += piece
    return [line.rstrip() for line in lines]
