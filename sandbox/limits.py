"""What a plan may use up, and the sentence that says which of it was used up."""

from __future__ import annotations

import math
from typing import Final

import msgspec

from codeplan.errors import UsageError

MAX_MESSAGE_CHARS: Final = 8_000
"""Characters kept of an error message or an assertion's message; the rest is cut off, and the cut is marked."""

MAX_NAME_CHARS: Final = 200
"""Characters of a name (of an error, a step's title) that crosses from the worker to the host."""

ENTRY_CHECKPOINTS_FACTOR: Final = 16
"""The checkpoints at all steps' entries together may take as many times the bytes of one."""


MAX_REPORTED: Final = 1e18
"""The most that is told of what a plan asked for beyond a limit."""

MAX_ARCS: Final = 20_000
"""Pairs of lines that coverage keeps of one run; an honest plan has about two for each of its lines."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one run of a plan may use. A run that passes one ends as ``Stopped``, with the field's name in ``limit``.

    The defaults are meant never to be met by an honest plan. Times leave out what the agent and ``ask`` take. A check
    is held to ``wall``, ``cpu``, ``memory`` and ``source_bytes``.

    Raises UsageError where a value is not a finite number above zero (counts may be zero), or beyond all measure.
    """

    wall: float = 5.0
    """Seconds by the clock."""

    cpu: float = 4.0
    """Seconds of processor time."""

    memory: int = 192 << 20
    """Bytes of address space that the plan may add to its worker's own."""

    turns: int = 5_000_000
    """Turns of all loops and comprehensions, and calls of the plan's own functions."""

    output: int = 64_000
    """Characters printed."""

    calls: int = 500
    """Calls of the agent's methods."""

    reads: int = 20_000
    """Reads of the agent's attributes."""

    call_bytes: int = 64_000
    """Bytes of the arguments of one call, as they travel."""

    asks: int = 50
    """Questions asked."""

    ask_bytes: int = 20_000
    """Bytes of one question, in UTF-8."""

    checkpoint_bytes: int = 256 << 10
    """Bytes of one checkpoint; variables that do not fit are dropped and named, which does not end the run."""

    recursion: int = 500
    """Frames of the plan's own functions within one another."""

    source_bytes: int = 64 << 10
    """Bytes of the plan itself, in UTF-8; a longer one is rejected."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            _check(name, getattr(self, name), zero_ok=name in _COUNTS)


_MAX_WHOLE: Final = 2**62
_MAXIMA: Final = {"wall": 10**9, "cpu": 10**9, "recursion": 2**30}
"""What the kernel's timers, its limits and the interpreter can still count."""

_COUNTS: Final = frozenset({"output", "calls", "reads", "asks", "turns"})

_MESSAGES: Final = {
    "wall": "the plan ran longer than {allowed:g} s",
    "cpu": "the plan used more than {allowed:g} s of processor time",
    "memory": "the plan needed more than {allowed:,.0f} bytes of memory",
    "turns": "the plan's loops made more than {allowed:,.0f} turns",
    "output": "the plan printed more than {allowed:,.0f} characters",
    "calls": "the plan called the agent more than {allowed:,.0f} times",
    "reads": "the plan read the agent's attributes more than {allowed:,.0f} times",
    "call_bytes": "the arguments of one call took {value:,.0f} bytes, more than {allowed:,.0f}",
    "asks": "the plan asked more than {allowed:,.0f} times",
    "ask_bytes": "one question took {value:,.0f} bytes, more than {allowed:,.0f}",
    "recursion": "the plan's functions called one another more than {allowed:,.0f} deep",
}

STOPPING_LIMITS: Final = frozenset(_MESSAGES)
"""The limits that can end a run."""


def limit_message(limit: str, value: float, allowed: float) -> str:
    """What happened, for a person or a model: ``limit`` is a name in NAMED, ``value`` what was reached."""
    return _MESSAGES[limit].format(value=value, allowed=allowed)


def shorten(text: str, max_chars: int = MAX_MESSAGE_CHARS) -> str:
    """The text itself, or its first ``most`` characters and a word on how much is missing."""
    return text if len(text) <= max_chars else f"{text[:max_chars]}… ({len(text) - max_chars:,} more characters)"


def _check(name: str, value: float, *, zero_ok: bool) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    whole = name in {"wall", "cpu"} or isinstance(value, int)
    if not number or not whole or value < 0 or (value == 0 and not zero_ok):
        kind = "a number" if name in {"wall", "cpu"} else "a whole number"
        raise UsageError(f"the limit {name} must be {kind} {'of at least' if zero_ok else 'above'} 0, not {value!r}")
    most = _MAXIMA.get(name, _MAX_WHOLE)
    if value > most:
        raise UsageError(f"the limit {name} may be {most:,} at most, not {value!r}")
