"""A tool's exception: as an error for the plan, and with its traceback for the developer."""

from __future__ import annotations

import asyncio
import concurrent.futures
import traceback
from pathlib import Path
from types import TracebackType

from codeplan.errors import AgentError

MAX_TRACEBACK_CHARS = 8_000
"""Maximum length of a traceback on standard error and in the trace, in characters."""

MAX_MESSAGE_CHARS = 2_000
"""Maximum length of what an exception says, in characters."""

_MAX_FRAMES = 20
_LEADING_FOLDERS = tuple(str(Path(file).parent) for file in (__file__, asyncio.__file__, concurrent.futures.__file__))
"""Where the code stands that leads from the environment to a tool."""


def error_for_plan(error: Exception) -> AgentError:
    """The error as the plan receives it: as its nearest built-in base, and with its name if that differs."""
    name = type(error).__name__
    base = next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
    if base == "Exception":
        base = "RuntimeError"
    message = message_of(error)
    return AgentError(message if base == name else f"{name}: {message}", base)


def message_of(error: Exception) -> str:
    """What an exception says, within MAX_MESSAGE_CHARS."""
    single = error.args[0] if isinstance(error, KeyError) and len(error.args) == 1 else None
    try:
        text = single if isinstance(single, str) else str(error)  # a KeyError's own text is in quotes
    except Exception:  # its class is the developer's
        return "its message cannot be read"
    return text if len(text) <= MAX_MESSAGE_CHARS else text[:MAX_MESSAGE_CHARS] + "…"


def traceback_text(error: Exception) -> str:
    """The traceback from the tool's own code on, within MAX_TRACEBACK_CHARS; its end, if that is too long."""
    try:
        shown = traceback.TracebackException(type(error), error, _own_part(error.__traceback__), limit=-_MAX_FRAMES)
        text = "".join(shown.format()).rstrip()
    except Exception:  # as above
        text = f"{type(error).__name__}: its traceback cannot be read"
    return text if len(text) <= MAX_TRACEBACK_CHARS else "…" + text[-MAX_TRACEBACK_CHARS:]


def _own_part(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames that lead to the tool."""
    while (
        trace is not None
        and trace.tb_next is not None
        and trace.tb_frame.f_code.co_filename.startswith(_LEADING_FOLDERS)
    ):
        trace = trace.tb_next
    return trace
