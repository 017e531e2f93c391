"""Parses TOML that anyone may have written, in time linear in its length."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MAX_KEY_PARTS = 32
"""Maximum number of dotted parts of one key. Python's parser takes time quadratic in their number."""

_PART = r"""(?:(?<![\w-])[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?:{_PART}[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}", re.ASCII)


def parse_toml(text: str) -> dict[str, Any]:
    """The tables in a text.

    Raises: tomllib.TOMLDecodeError: the text is not TOML, is nested too deeply, or has a key of too many parts or a
    number of too many digits. The message says where, if that is known.
    """
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise tomllib.TOMLDecodeError(f"a key of more than {MAX_KEY_PARTS} parts (at line {line})")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # Python converts no more than some thousand digits
        raise tomllib.TOMLDecodeError("a number has too many digits") from None
