"""Searches texts with regular expressions that anyone may have written, for a limited time.

Python's ``re`` can take time that is exponential in the text, and other threads cannot interrupt it. So an expression
with repeats or alternatives runs in a process of its own, which is killed when its time is over.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable, Sequence

from codeplan.untrusted.values import in_quotes

MAX_PATTERN_CHARACTERS = 10_000
MAX_SECONDS = 3.0
"""Seconds for one search, with the start of its process."""

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_MAY_BACKTRACK = re.compile(r"[*+?{|]")
_HAS_WIDE_CHARACTER = re.compile(r"[^\x00-\x7f]|\\[0-7uUN]")
_MAX_STEPS = 10_000_000
"""Without repeats, a search takes at most as many steps as the product of both lengths. More need a process too."""

warnings.filterwarnings("ignore", category=FutureWarning, module=re.escape(__name__))
"""A pattern such as ``[[a]`` means what it means today. Python warns that this will change; only the pattern's author
can correct it.
"""

_COMPILE = """
import json, re, sys
for pattern in json.load(sys.stdin):
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        pass
"""
_SEARCH = """
import json, re, sys
pattern, text = json.load(sys.stdin)
try:
    sys.exit(0 if re.search(pattern, text) else 1)
except (re.error, OverflowError, RecursionError):
    sys.exit(2)
"""


def compile_in_time(patterns: Iterable[str]) -> bool:
    """Whether all of these texts together can be compiled in MAX_SECONDS.

    Patterns that are not regular expressions cost little.

    A character class with wide characters takes milliseconds, and so a second for each 400 characters.
    """
    slow = [pattern for pattern in patterns if _may_compile_slowly(pattern) and len(pattern) <= MAX_PATTERN_CHARACTERS]
    return not slow or _run(_COMPILE, slow, MAX_SECONDS) is not None


def find_pattern_problem(pattern: str) -> str | None:
    """Why the text is no regular expression; None if it is one. Ask ``compile_in_time`` before."""
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        return f"it has {len(pattern):,} characters; at most {MAX_PATTERN_CHARACTERS:,} are allowed"
    try:
        re.compile(pattern)
    except (re.error, OverflowError) as e:
        return str(e)
    except RecursionError:
        return "it is nested too deeply"
    return None


def search_pattern(pattern: str, text: str, seconds: float | None = None) -> bool | None:
    """Whether the text contains a match; None if the search took more than ``seconds``, or MAX_SECONDS.

    Raises: ValueError: the pattern is no regular expression (see ``find_pattern_problem``).
    """
    if len(pattern) > MAX_PATTERN_CHARACTERS or not (
        _may_compile_slowly(pattern)
        or _MAY_BACKTRACK.search(_ESCAPED.sub("", pattern))
        or len(pattern) * len(text) > _MAX_STEPS
    ):
        if problem := find_pattern_problem(pattern):
            raise ValueError(problem)
        return re.search(pattern, text) is not None
    code = _run(_SEARCH, [pattern, text], MAX_SECONDS if seconds is None else seconds)
    if code == 2:
        raise ValueError(f"this is no regular expression: {in_quotes(pattern)}")
    return None if code is None else {0: True, 1: False}.get(code)


def find_first_match(patterns: Sequence[str], text: str) -> int | None:
    """The index of the first pattern with a match in the text; None if no pattern has one.

    Raises:
        TimeoutError: this took more than MAX_SECONDS; the message is the pattern at which the time was over.
        ValueError: as ``search_pattern``.
    """
    until = time.monotonic() + MAX_SECONDS
    for index, pattern in enumerate(patterns):
        found = search_pattern(pattern, text, until - time.monotonic())
        if found is None:
            raise TimeoutError(pattern)
        if found:
            return index
    return None


def _may_compile_slowly(pattern: str) -> bool:
    return "[" in pattern and _HAS_WIDE_CHARACTER.search(pattern) is not None


def _run(program: str, data: object, seconds: float) -> int | None:
    """The exit code of a Python program that reads JSON data; None if it took too long."""
    command = [sys.executable, "-I", "-S", "-W", "ignore", "-c", program]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(data).encode(),
            timeout=max(0.0, seconds),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.returncode
