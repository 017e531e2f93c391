"""Searches texts with regular expressions that anyone may have written, for a limited time.

Python's ``re`` can take time that is exponential in the text, and other threads cannot interrupt it. So an expression
with repeats or alternatives runs in a process of its own, which is killed when its time is over.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

MAX_PATTERN_CHARACTERS = 10_000
MAX_SECONDS = 3.0
"""Seconds for one search, with the start of its process."""

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_MAY_BACKTRACK = re.compile(r"[*+?{|]")
_SEARCH = """
import json, re, sys
pattern, text = json.load(sys.stdin)
sys.exit(0 if re.search(pattern, text) else 1)
"""


def find_pattern_problem(pattern: str) -> str | None:
    """Why the text is no regular expression; None if it is one."""
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        return f"it has {len(pattern):,} characters; at most {MAX_PATTERN_CHARACTERS:,} are allowed"
    try:
        re.compile(pattern)
    except (re.error, OverflowError) as e:
        return str(e)
    except RecursionError:
        return "it is nested too deeply"
    return None


def search_pattern(pattern: str, text: str) -> bool | None:
    """Whether the text contains a match; None if the search took too long.

    Raises: ValueError: the pattern is no regular expression (see ``find_pattern_problem``).
    """
    if problem := find_pattern_problem(pattern):
        raise ValueError(problem)
    if not _MAY_BACKTRACK.search(_ESCAPED.sub("", pattern)):
        return re.search(pattern, text) is not None
    command = [sys.executable, "-I", "-S", "-W", "ignore", "-c", _SEARCH]
    try:
        done = subprocess.run(
            command,
            input=json.dumps([pattern, text]).encode(),
            timeout=MAX_SECONDS,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return {0: True, 1: False}.get(done.returncode)
