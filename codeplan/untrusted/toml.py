"""Reads TOML that anyone may have written, in time linear in its length, and converts it to typed values."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from codeplan.errors import UsageError
from codeplan.untrusted.files import read_user_text
from codeplan.untrusted.texts import MAX_REASON_CHARS, one_line, parser_reason

MAX_KEY_PARTS = 32
"""Maximum number of dotted parts of one key. Python's parser takes time quadratic in their number."""

MAX_BITS = 64
"""Size of a whole number, as TOML promises it: at most 2**63 - 1, at least -2**63."""

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(  # a key stands at a line's start or after one of [ { ,
    rf"(?:^|[\[{{,])[ \t]*+(?:{_PART}[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}", re.ASCII | re.MULTILINE
)


def parse_toml(text: str) -> dict[str, Any]:
    """The tables in a text.

    Raises: tomllib.TOMLDecodeError: the text is not TOML, is nested too deeply, or has a key of too many parts or a
    number of too many digits or bits. The message says where, if that is known.
    """
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise tomllib.TOMLDecodeError(f"a key of more than {MAX_KEY_PARTS} parts (at line {line})")
    table = _load(text)
    if (key := _find_long_number(table)) is not None:
        raise tomllib.TOMLDecodeError(f"the whole number of {key} has more than {MAX_BITS} bits")
    return table


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # Python converts no more than some thousand digits
        raise tomllib.TOMLDecodeError("a number has too many digits") from None


def _find_long_number(table: dict[str, Any]) -> str | None:
    """The key of a whole number that is too long; of a number in a list, the list's key. None if there is none.

    Written in hexadecimal, a number of any length passes Python's parser.
    """
    left: list[tuple[str, Any]] = list(table.items())
    while left:
        key, value = left.pop()
        if isinstance(value, dict):
            left.extend(value.items())
        elif isinstance(value, list):
            left.extend((key, item) for item in value)
        elif type(value) is int and not -(2 ** (MAX_BITS - 1)) <= value < 2 ** (MAX_BITS - 1):
            return key
    return None


MAX_TOML_BYTES = 1_000_000
"""Larger files are not read."""

T = TypeVar("T")


def read_text(path: str | Path, description: str) -> str:
    """The text of a file. Raises UsageError, which calls the file ``description``, if it cannot be read."""
    try:
        return read_user_text(path, MAX_TOML_BYTES)
    except OSError as e:
        raise UsageError(f"{description} {path} cannot be read: {e.strerror}") from None


def require_toml(source: str, name: str) -> dict[str, Any]:
    """The tables in the file's text. Raises UsageError, with ``name`` and the line, if it is not TOML."""
    try:
        return parse_toml(source)
    except tomllib.TOMLDecodeError as e:
        raise UsageError(f"{name} is not TOML: {parser_reason(e)}") from None


def convert_value(value: Any, wanted: type[T], name: str, *, strict: bool = True) -> T:
    """The value, converted to the wanted type. Raises UsageError, with the key, if that is not possible.

    ``strict=False`` also converts text to numbers and booleans, for environment variables.
    """
    try:
        return msgspec.convert(value, wanted, strict=strict)
    except (msgspec.ValidationError, UnicodeEncodeError, UsageError) as e:
        raise UsageError(f"{name}: {one_line(_readable_error(str(e)), MAX_REASON_CHARS)}") from None


def _readable_error(message: str) -> str:
    """The validator's message with the key first: ``a.b: expected float, got str``."""
    what, at, path = message.partition(" - at ")
    what = what.replace("`", "").replace("Object contains unknown field", "there is no key")
    what = what.replace("Object missing required field", "there must be a key")
    what = re.sub(r"^Expected", "expected", what)
    where = re.sub(r"^`\$\.?|`$", "", path) if at else ""
    return f"{where}: {what}" if where else what
