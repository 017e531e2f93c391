"""TOML files as typed values. Whatever is wrong with one is a UsageError of one sentence, with file and place."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from codeplan.errors import UsageError

T = TypeVar("T")


def read_text(path: str | Path, description: str) -> str:
    """The text of a file. Raises UsageError, which calls it ``what``, where it cannot be read."""
    try:
        return Path(path).read_text("utf-8")
    except OSError as e:
        raise UsageError(f"{description} {path} cannot be read: {e.strerror}") from None
    except (UnicodeDecodeError, ValueError):
        raise UsageError(f"{description} {path} is not text in UTF-8; save it as UTF-8") from None


def parse_toml(source: str, name: str) -> dict[str, Any]:
    """The tables in the text of the file ``name``. Raises UsageError, with the line, where it is no TOML."""
    try:
        return tomllib.loads(source)
    except (tomllib.TOMLDecodeError, RecursionError) as e:
        raise UsageError(f"{name} is no TOML: {e}") from None


def convert_value(value: Any, wanted: type[T], name: str, *, strict: bool = True) -> T:
    """The value as a ``wanted``. Raises UsageError, with the key, where it does not fit.

    ``strict=False`` reads numbers and truth out of text, too, as an environment variable gives them.
    """
    try:
        return msgspec.convert(value, wanted, strict=strict)
    except (msgspec.ValidationError, UnicodeEncodeError, UsageError) as e:
        raise UsageError(f"{name}: {_readable_error(str(e))}") from None


def _readable_error(message: str) -> str:
    """The validator's words with the key first: ``a.b: expected float, got str``."""
    what, at, path = message.partition(" - at ")
    what = what.replace("`", "").replace("Object contains unknown field", "there is no key")
    what = what.replace("Object missing required field", "there must be a key")
    what = re.sub(r"^Expected", "expected", what)
    where = re.sub(r"^`\$\.?|`$", "", path) if at else ""
    return f"{where}: {what}" if where else what
