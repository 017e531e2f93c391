"""Parses TOML that anyone may have written, in time linear in its length."""

from __future__ import annotations

import re
import tomllib
from typing import Any

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
