"""A tool's exception, as an error for the plan."""

from __future__ import annotations

from codeplan.errors import AgentError
from codeplan.untrusted.terminal import message_text

MAX_MESSAGE_CHARS = 2_000
"""Maximum length of what a plan reads of an exception, in characters."""


def error_for_plan(error: Exception | SystemExit) -> AgentError:
    """The error as the plan receives it: as its nearest built-in base, and with its name if that differs."""
    name = type(error).__name__
    base = next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
    if base == "Exception":
        base = "RuntimeError"
    message = message_text(error) if base == name else f"{name}: {message_text(error)}"
    return AgentError(message if len(message) <= MAX_MESSAGE_CHARS else message[:MAX_MESSAGE_CHARS] + "…", base)
