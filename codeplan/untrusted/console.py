"""A rich console for untrusted text: it prints with styles, and only clean text reaches the terminal."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from codeplan.untrusted.texts import clean, row_indent, row_spans


class CleanConsole(Console):
    """A console that cleans the text of everything it renders. Its own styles and movements stay.

    Square brackets and emoji codes in a text mean nothing.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"highlight": False, "markup": False, "emoji": False, **options})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as rich does, but with clean text."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(clean(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Raise the error, where rich would end the process: the caller knows what is unfinished."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def print_wrapped(console: Console, line: Text, indent: int | None = None, *, fold: bool = False) -> None:
    """Print a line of clean text; on a terminal in rows, as ``row_spans`` says."""
    if not console.is_terminal:
        console.print(line, soft_wrap=True)
        return
    margin = " " * row_indent(line.plain, console.width, indent)
    for number, (start, end) in enumerate(row_spans(line.plain, console.width, indent, fold=fold)):
        console.print(Text.assemble(margin if number else "", line[start:end]), soft_wrap=True)
