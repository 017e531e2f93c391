"""The base of all values, and how they show themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Annotated, Final

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
"""A number of things. A file from elsewhere cannot hold one that is too large to calculate with."""

Seed = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number of 64 bits: the sandbox seeds a plan's random numbers with it."""

MAX_AMOUNT = 1e100
"""The greatest amount, in either direction."""

Amount = Annotated[float, msgspec.Meta(ge=-MAX_AMOUNT, le=MAX_AMOUNT)]
"""Seconds, money or a reward, with the same limit."""


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of all values: frozen, and equal if their contents are."""


MAX_PART: Final = 80
"""Maximum length of one field in a line, in characters."""

MAX_CELL: Final = 2_000
"""Maximum length of one field in a table, in characters."""

MAX_SOURCE: Final = 40_000
"""Maximum length of a plan's source below a table, in characters."""

MAX_LINES: Final = 1_000
"""Maximum number of lines of a plan's source below a table."""

MAX_ROWS: Final = 200
"""Maximum number of rows that a table shows."""


def short_repr(value: object, fields: Mapping[str, object]) -> str:
    """The type of a value with these fields, each in at most MAX_PART characters."""
    from codeplan.untrusted.values import in_quotes

    shown = (f"{name}={in_quotes(part, MAX_PART)}" for name, part in fields.items())
    return f"{type(value).__name__}({', '.join(shown)})"


def is_empty(part: object) -> bool:
    """Whether a field is empty and need not be shown. Only None and builtin values are examined."""
    return part is None or (type(part) in (str, tuple, list, dict) and not part)


def html_value(value: object, max_characters: int = MAX_CELL) -> str:
    """A value from anywhere in Python's notation, as HTML in bounded size."""
    from codeplan.untrusted.values import value_text

    return f"<code>{escape(value_text(value, max_characters))}</code>"


def html_text(text: str) -> str:
    """A text from anywhere, as HTML in bounded size."""
    from codeplan.untrusted.texts import clip_lines

    return escape("\n".join(clip_lines(text, 40, MAX_CELL)))


_LEFT: Final = 'style="text-align: left"'
"""Of cells: notebooks move their content to the right, where long texts are hard to read."""


def html_table(title: str, rows: Mapping[str, str], source: str | None = None) -> str:
    """A table of names and values. ``rows`` maps a name to HTML, and ``source`` is a plan to unfold below it."""
    body = "".join(
        f"<tr><th {_LEFT}>{escape(name)}</th><td {_LEFT}>{value}</td></tr>" for name, value in rows.items() if value
    )
    plan = "" if source is None else _folded_plan(source)
    return f"<div><strong>{html_text(title)}</strong><table>{body}</table>{plan}</div>"


def html_list(title: str, header: Iterable[str], rows: Iterable[Iterable[str]], left_out: int = 0) -> str:
    """A table with a header; ``rows`` hold HTML, and ``left_out`` more are only counted."""
    head = "".join(f"<th {_LEFT}>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td {_LEFT}>{cell}</td>' for cell in row)}</tr>" for row in rows)
    more = f"<p>… and {left_out:,} more</p>" if left_out > 0 else ""
    return f"<div><strong>{html_text(title)}</strong><table><tr>{head}</tr>{body}</table>{more}</div>"


def _folded_plan(source: str) -> str:
    from codeplan.untrusted.texts import clip_lines

    lines = "\n".join(clip_lines(source, MAX_LINES, MAX_SOURCE))
    return f"<details><summary>Plan</summary><pre>{escape(lines)}</pre></details>"
