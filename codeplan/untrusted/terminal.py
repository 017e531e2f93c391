"""Makes untrusted text safe for a terminal: the text can neither control nor flood the terminal."""

from __future__ import annotations

import re
import shlex
import sys
import unicodedata
from pathlib import Path
from typing import Any, Final

from codeplan.untrusted.wrapping import terminal_columns, wrap_line

TAB = "    "

MAX_REASON_CHARS = 300
"""Maximum length of a parser's message, in characters."""

_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Characters that Unicode calls printable but that are invisible; they could hide text."""

_ARGUMENTS_OF: Final = BaseException.args.__get__  # type: ignore[attr-defined]  # not what a class makes of it


def clean(text: str) -> str:
    """The text without control characters, escape codes, invisible characters and lone surrogates. Line ends stay.

    Other spaces become plain ones.
    """
    if text.isascii() and text.isprintable():
        return text  # the common case, and lists have thousands of texts
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", TAB)
    shown = "".join(c if c == "\n" or c.isprintable() else _space(c) for c in lines)
    return _BLANK.sub("", shown)


def _space(character: str) -> str:
    return " " if unicodedata.category(character) == "Zs" else ""


def echo(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print the clean text to standard output or standard error.

    Everything that codeplan prints goes through this function or a ``CleanConsole``.
    """
    print(clean(text), file=sys.stderr if err else sys.stdout, end=end, flush=True)


def echo_message(text: str, label: str = "", *, err: bool = False) -> None:
    """Print a message after its label. On a terminal it is wrapped, and its further rows stand under its text.

    Elsewhere each line of the text stays one line.
    """
    width = terminal_columns(sys.stderr if err else sys.stdout)
    for line in clean(f"{label}{text}").split("\n"):
        echo("\n".join(wrap_line(line.rstrip(), width, len(label))), err=err)


def one_line(text: str, width: int = 200) -> str:
    """The text on one line of at most ``width`` characters."""
    line = clean(" ".join(text[: width * 8].split()))
    return line if len(line) <= width else line[: width - 1] + "…"


def shell_word(argument: str | Path) -> str:
    """A command's argument, as a user may copy it from a message into a shell: in quotes if it needs them."""
    return one_line(shlex.quote(str(argument)), 400)


def message_text(error: BaseException) -> str:
    """An exception's message. The exception's class may be foreign code: it can fail to give the message, and claim
    what it likes about itself.
    """
    try:
        args: tuple[Any, ...] = _ARGUMENTS_OF(error)
        is_quoted = issubclass(type(error), KeyError) and len(args) == 1 and isinstance(args[0], str)
        return str.__str__(args[0] if is_quoted else str(error))  # without the methods of a class of its own
    except KeyboardInterrupt:
        raise
    except BaseException:
        return "its message cannot be read"


def parser_reason(error: Exception) -> str:
    """Why a parser refused foreign data, on one line: parsers quote the value, which may be long."""
    return one_line(str(error), MAX_REASON_CHARS)


def clip_lines(text: str, lines: int = 40, characters: int = 4000) -> list[str]:
    """The first lines of the clean text. If something is left out, the last line says how much."""
    kept = clean(text[:characters]).rstrip("\n").split("\n")
    shown = kept[:lines]
    if len(kept) > lines or len(text) > characters:
        shown.append(f"… ({len(text):,} characters in all; the trace has them)")
    return shown


def source_excerpt(source: str, line: int, column: int, width: int = 120) -> list[str]:
    """The source's line of this number, and a caret under the column; empty if there is no such line.

    Lines and columns count from 1; column 0 means the whole line, without a caret. Of a line of more than ``width``
    characters it is the part around the column, with an ellipsis at each end that is cut.
    """
    lines = source.splitlines()
    if not 0 < line <= len(lines):
        return []
    text = lines[line - 1]
    start = max(column - 1, 0)
    first = max(0, start - 2 * width // 3)
    end = first + width
    before = ("…" if first else "") + clean(text[first:start])
    after = clean(text[start:end]) + ("…" if text[end:].strip() else "")
    return [before + after] + ([" " * len(before) + "^"] if column else [])
