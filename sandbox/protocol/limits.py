"""Resource limits for one plan run, and the message shown when a limit is exceeded."""

from __future__ import annotations

import math
from typing import ClassVar, Final

import msgspec

from codeplan.errors import UsageError
from codeplan.untrusted.texts import with_count

MAX_MESSAGE_CHARS: Final = 8_000
"""Maximum length of an error's or an assertion's message; longer ones are cut, and the cut is marked."""

MAX_NAME_CHARS: Final = 200
"""Maximum length of a name (error type, step title) that the worker sends to the host, in characters."""

ENTRY_CHECKPOINTS_FACTOR: Final = 16  # all step-entry checkpoints together may use this many times ``checkpoint_bytes``


MAX_STEPS: Final = 1_000  # maximum number of steps in a plan, and of steps that one run enters
MAX_DIAGNOSTICS: Final = 100  # maximum number of reasons in one refusal; the last one says how many are missing
MAX_DIAGNOSTIC_CHARS: Final = 1_000  # maximum length of the message of one reason
MAX_FIXES: Final = 200  # maximum number of fixes in one plan; a plan that needs more is not mended
MAX_FIX_CHARS: Final = 160  # maximum length of the line of code in the note of a fix
MAX_CODE_BYTES: Final = 256 << 10
"""Maximum size of one plan's compiled code; longer code is not passed on, and the plan is compiled again."""

MAX_OUTLINE_BYTES: Final = 1 << 20  # maximum size of a plan's steps and names, packed
MAX_REPORTED: Final = 1e18  # cap on the reported value when a plan exceeds a limit
MAX_ARCS: Final = 20_000
"""Maximum number of line pairs that coverage records in one run; an honest plan has about two per line."""


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits for one plan run. A run that exceeds one ends as ``Stopped``; ``limit`` names the field.

    The defaults leave ample room for honest plans. Time spent in the agent and in ``ask`` does not count. A check has
    ``wall``, ``cpu``, ``memory`` and ``source_bytes``.

    - ``wall``: elapsed seconds.
    - ``cpu``: seconds of processor time.
    - ``memory``: bytes of address space beyond what the worker uses already.
    - ``turns``: iterations of all loops and comprehensions, plus calls of the plan's own functions. By default ``wall``
      and ``cpu`` end a loop long before.
    - ``output``: printed characters.
    - ``calls``: calls of agent methods.
    - ``reads``: reads of agent attributes.
    - ``call_bytes``: packed size of the arguments of one call.
    - ``asks``: questions to the model.
    - ``ask_bytes``: size of one question in UTF-8, with its data and form.
    - ``checkpoint_bytes``: size of one checkpoint. Variables that do not fit are dropped and named; the run goes on.
    - ``recursion``: depth of the plan's own function calls. A deeper one raises RecursionError, and does not stop it.
    - ``source_bytes``: size of the plan in UTF-8; a longer plan is rejected.

    Raises UsageError if a value is not finite, not positive (counts may be zero), or more than the kernel can count.
    """

    setting_trust: ClassVar[str] = "trusted"

    wall: float = 5.0
    cpu: float = 4.0
    memory: int = 192 << 20
    turns: int = 10**9
    output: int = 64_000
    calls: int = 500
    reads: int = 20_000
    call_bytes: int = 64_000
    asks: int = 50
    ask_bytes: int = 20_000
    checkpoint_bytes: int = 256 << 10
    recursion: int = 1_000
    source_bytes: int = 64 << 10

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            _check(name, getattr(self, name), zero_ok=name in _MAY_BE_ZERO)


_TIMES: Final = frozenset(name for name, kind in Limits.__annotations__.items() if kind == "float")
"""The limits in seconds, which may have fractions."""

_MAX_WHOLE: Final = 2**62
_MAXIMA: Final = {"recursion": 2**30, **dict.fromkeys(_TIMES, 10**9)}
"""The largest values that timers, resource limits and the interpreter can count."""

_MAY_BE_ZERO: Final = frozenset({"output", "calls", "reads", "asks", "turns"})

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
}

STOPPING_LIMITS: Final = frozenset(_MESSAGES)  # the limits that can end a run


def limit_message(limit: str, value: float, allowed: float) -> str:
    """Describe an exceeded limit, one of STOPPING_LIMITS; ``value`` is the amount that the plan reached."""
    return _MESSAGES[limit].format(value=value, allowed=allowed)


def shorten(text: str, max_chars: int = MAX_MESSAGE_CHARS) -> str:
    """Cut a text to ``max_chars`` characters and say how many are missing."""
    return (
        text
        if len(text) <= max_chars
        else f"{text[:max_chars]}… ({with_count(len(text) - max_chars, 'more character')})"
    )


def _check(name: str, value: float, *, zero_ok: bool) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    whole = name in _TIMES or isinstance(value, int)
    if not number or not whole or value < 0 or (value == 0 and not zero_ok):
        kind = "a number" if name in _TIMES else "a whole number"
        raise UsageError(f"the limit {name} must be {kind} {'of at least' if zero_ok else 'above'} 0, not {value!r}")
    most = _MAXIMA.get(name, _MAX_WHOLE)
    if value > most:
        raise UsageError(f"the limit {name} may be {most:,} at most, not {value!r}")
