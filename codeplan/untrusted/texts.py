"""Text for messages and prompts: made safe for a terminal, wrapped, shortened, and with its nouns in the right form."""

from __future__ import annotations

import os
import re
import shlex
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

_SPOKEN_WITH_A: Final = re.compile(r"eu|one|u(?:ni|s[aeiu]|ti|u)|u$", re.IGNORECASE)
_SPOKEN_WITH_AN: Final = re.compile(r"[aeiou]|(?:hour|hon|heir)", re.IGNORECASE)
_SPELT_WITH_AN: Final = re.compile(r"[AEFHILMNORSX](?:[B-DF-HJ-NP-TV-Z]{2}|[B-DF-HJ-NP-TV-Z]$)")


def with_count(count: int, noun: str, plural: str | None = None) -> str:
    """The number and the noun: ``"1 cell"``, ``"2,000 cells"``. ``plural`` is needed unless the noun only adds an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def with_article(noun: str) -> str:
    """The noun with "a" or "an", by how its beginning sounds: ``"an EndFrame"``, ``"a UserDict"``, ``"an LLM"``."""
    vowel = _SPELT_WITH_AN.match(noun) or (_SPOKEN_WITH_AN.match(noun) and not _SPOKEN_WITH_A.match(noun))
    return f"{'an' if vowel else 'a'} {noun}"


def escape_surrogates(text: str) -> str:
    """Replace lone surrogates by escapes, so that UTF-8 can encode the text."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def escape_in_data(data: Any) -> Any:
    """JSON data with half surrogate pairs escaped, which neither a trace nor JSON in UTF-8 can hold."""
    if isinstance(data, str):
        return escape_surrogates(data)
    if isinstance(data, list | tuple):
        return [escape_in_data(v) for v in data]
    return {escape_in_data(k): escape_in_data(v) for k, v in data.items()} if isinstance(data, dict) else data


def is_utf8(text: str) -> bool:
    """Whether UTF-8 can encode the text: it has no lone surrogates, such as a shell's argument of other bytes has."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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


UNKNOWN_WIDTH = 80
"""The columns of a terminal of unknown width."""

_COMMAND = re.compile(
    r"(?<=: )(?:codeplan|pip|apt-get|make|python3?) (?:(?!; |, | \().)+"  # commands for the reader to run
    r"|'codeplan [^']*'"
    r"|\b(?:codeplan|pip install) [^ ]+"
)
_WORD = re.compile(r"[^ ]+")


def on_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


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
    return shorten(clean(" ".join(text[: width * 8].split())), width)


def shorten(text: str, most: int) -> str:
    """The text, or its beginning and an ellipsis: at most so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


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


def cut_at_stop(text: str, stop: Sequence[str]) -> str:
    """The text up to the first stop sequence.

    White space at the start of a text is no stop sequence: many models begin with an empty line.
    """
    start = len(text) - len(text.lstrip())
    found = (text.find(sequence, start if sequence.isspace() else 0) for sequence in stop if sequence)
    return text[: min((place for place in found if place >= 0), default=len(text))]


_NAME: Final = "(?:[a-z]++:)?(?:think(?:ing)?|thoughts?|reasoning)"
_MARKS: Final = (
    (f"(?i:<{_NAME}>)", f"(?i:</{_NAME}>)"),  # DeepSeek, Qwen, Gemma; with a prefix MiniMax and Seed
    (r"\[THINK\]", r"\[/THINK\]"),  # Mistral
    ("◁think▷", "◁/think▷"),  # Kimi
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Cohere
    (r"<\|channel>thought\b", r"<channel\|>"),  # Gemma 4
)
"""The marks before and after a thought, for each family of models."""

_UNQUOTED: Final = r"(?<![`'\"])"
_OPENING = re.compile(r"\s*+(?:" + "|".join(f"({opening})" for opening, _ in _MARKS) + ")")
_CLOSINGS = [re.compile(f"{_UNQUOTED}{closing}") for _, closing in _MARKS]

THOUGHT_START: Final = re.compile("|".join(opening for opening, _ in _MARKS))
"""The mark before a thought."""

THOUGHT_END: Final = re.compile(f"{_UNQUOTED}(?:{'|'.join(closing for _, closing in _MARKS)})")
"""The mark behind a thought. In quotes it is part of an answer."""

_NESTED = re.compile(f"{_UNQUOTED}(?:{THOUGHT_START.pattern})")

_CHANNEL = re.compile(r"<\|channel\|>([^<]*+)(?:<\|constrain\|>[^<]*+)?<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_FIRST_CHANNEL = re.compile(r"\s*+(?:<\|start\|>assistant)?+[^<]{0,40}<\|channel\|>")
_BARE_ANALYSIS = re.compile(r"\s*+analysis(?=[A-Z\"'])")
_BARE_FINAL: Final = "assistantfinal"

_TOKENS_IN_FRONT = re.compile(rf"\s*+(?:(?!{_MARKS[3][0]}|{_MARKS[4][0]})<\|\w{{1,30}}+\|>(?:assistant\b)?+\s*+)++")
_TOKEN_AT_END = re.compile(r"(?:<[|｜][\w▁]{1,30}+[|｜]>|<end_of_turn>|<eos>|</s>)\Z")
_MAX_TOKEN_CHARS: Final = 40
_MAX_TOKENS_AT_END: Final = 8


def split_thoughts(text: str | None) -> tuple[str | None, str]:
    """The text without the reasoning at its start and without the control tokens around it, and that reasoning.

    The text is None if nothing else is left.
    """
    if text is None:
        return None, ""
    said, channels = _split_channels(text)
    if said is None:
        return None, channels
    bare = _without_tokens(said)
    if bare != text and not bare.strip():
        return None, channels
    rest, thought = _split_marked(bare)
    return rest if rest is None else _without_tokens(rest), "\n".join(filter(None, (channels, thought)))


def without_channels(text: str) -> str:
    """The text of the channel that is for the user, if the text has channels; otherwise all of it."""
    said, _ = _split_channels(text)
    return said or ""


def _split_marked(text: str) -> tuple[str | None, str]:
    opening = _OPENING.match(text)
    closing = (_CLOSINGS[(opening.lastindex or 1) - 1] if opening else THOUGHT_END).search(
        text, opening.end() if opening else 0
    )
    if not (opening or closing):
        return text, ""
    thought = text[opening.end() if opening else 0 : closing.start() if closing else len(text)]
    if closing is None:
        return None, thought
    if _NESTED.search(thought):
        return (None, thought) if opening else (text, "")
    rest = text[closing.end() :].lstrip()
    return (rest if rest and not _OPENING.match(rest) else None), thought


def _split_channels(text: str) -> tuple[str | None, str]:
    """The text for the user, and the other channels' text, if the reply is in gpt-oss' channels.

    A server that drops the tokens leaves the channels' names. Without a final channel, the last commentary counts: it
    holds the arguments of a call, such as code.
    """
    if _BARE_ANALYSIS.match(text) and _BARE_FINAL in text:
        before, _, answer = text.partition(_BARE_FINAL)
        return answer, before.strip().removeprefix("analysis")
    if not _FIRST_CHANNEL.match(text):
        return text, ""
    channels: list[tuple[str, str]] = []
    for head in _CHANNEL.finditer(text):
        end = _CHANNEL_END.search(text, head.end())
        channels.append((head[1].split(" ")[0].strip(), text[head.end() : end.start() if end else len(text)]))
    if not channels:
        return text, ""
    finals = [said for name, said in channels if name == "final"]
    others = [said for name, said in channels if name == "commentary"]
    said = "".join(finals) or (others[-1] if others else None)
    return said, "\n".join(told for name, told in channels if name not in ("final", "commentary"))


def _without_tokens(text: str) -> str:
    """The text without the control tokens before and behind it, which some servers do not take off."""
    if front := _TOKENS_IN_FRONT.match(text):
        text = text[front.end() :]
    for _ in range(_MAX_TOKENS_AT_END):
        bare = text.rstrip()
        token = _TOKEN_AT_END.search(bare, max(0, len(bare) - _MAX_TOKEN_CHARS))
        if token is None or (token[0] == "</s>" and "<s>" in bare):
            break
        text = bare[: token.start()].rstrip()
    return text
