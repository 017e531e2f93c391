"""Reads TOML files into typed values. Every problem is a UsageError that names the file and the place."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from codeplan.errors import UsageError
from codeplan.untrusted import toml
from codeplan.untrusted.files import read_user_text
from codeplan.untrusted.terminal import MAX_REASON_CHARS, one_line, parser_reason

MAX_TOML_BYTES = 1_000_000
"""Larger files are not read."""

T = TypeVar("T")


def read_text(path: str | Path, description: str) -> str:
    """The text of a file. Raises UsageError, which calls the file ``description``, if it cannot be read."""
    try:
        return read_user_text(path, MAX_TOML_BYTES)
    except OSError as e:
        raise UsageError(f"{description} {path} cannot be read: {e.strerror}") from None


def parse_toml(source: str, name: str) -> dict[str, Any]:
    """The tables in the file's text. Raises UsageError, with ``name`` and the line, if it is not TOML."""
    try:
        return toml.parse_toml(source)
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
