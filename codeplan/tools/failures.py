"""A tool's exception, as an error for the plan."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from typing import Any, Final

from codeplan.errors import AgentError, CodeplanError
from codeplan.tools.tool import ErrorTest
from codeplan.types import Answer
from codeplan.untrusted.texts import MAX_REASON_CHARS, echo, escape_surrogates, message_text, one_line
from codeplan.untrusted.values import class_name, type_name, value_text

MAX_MESSAGE_CHARS = 2_000
"""Maximum length of an exception's message for a plan, in characters."""


class DoubtfulCall(AgentError):
    """Nobody knows whether a call was done: it was begun, and no answer came. The plan receives the message."""


_BASES_OF: Final = type.__dict__["__mro__"].__get__


def require_failure(error: BaseException) -> None:
    """Raise the exception again if it is not a failure of the developer's code: an error of codeplan, or the user's
    interrupt. Everything else is a failure, even if it is not an ``Exception``: ``sys.exit(0)`` in a verifier must not
    end the program as a success, and cancelled tasks and groups of errors are not codeplan's own. So is the error of a
    call that the developer's code made, such as one with a wrong argument.
    """
    kind = type(error)  # what an exception says of its own class is not asked
    if issubclass(kind, CodeplanError | KeyboardInterrupt) and not issubclass(kind, AgentError):
        raise error


def call_in_doubt(tool: str) -> DoubtfulCall:
    """The error in place of the answer of a call that was begun and not answered."""
    return DoubtfulCall(
        f"codeplan was ended during this call of {tool}, and it is not made again; whether it was done is unknown",
        "ConnectionError",
    )


def unknown_answer(tool: str) -> Answer:
    """The answer of a call of which nobody knows whether it was done, because codeplan was ended during it."""
    error = call_in_doubt(tool)
    return Answer(error=error.error, message=str(error), in_doubt=True)


def failure_message(error: BaseException) -> str:
    """The error's message, within MAX_MESSAGE_CHARS."""
    said = escape_surrogates(message_text(error)[: MAX_MESSAGE_CHARS + 1])
    return _cut(said)


def error_for_plan(error: BaseException) -> AgentError:
    """The error as the plan receives it: as its nearest built-in base, and with its name if that differs."""
    name, base = type_name(error), _builtin_base(error)
    said = failure_message(error)
    return AgentError(said if base == name else _cut(f"{name}: {said}" if said else name), base)


def refusal(error: AgentError) -> tuple[str, str]:
    """The name and the message of an error that a tool raised to refuse a call. Its class may be the developer's."""
    try:
        kind = error.error
    except Exception:
        kind = ""
    name = kind if type(kind) is str and kind else "RuntimeError"
    return escape_surrogates(name), escape_surrogates(message_text(error))


def _builtin_base(error: BaseException) -> str:
    """The name of the nearest class of Python's own that a plan may catch."""
    named = ((class_name(c), c) for c in _BASES_OF(type(error)))
    base = next(name for name, c in named if vars(builtins).get(name) is c)
    return "RuntimeError" if base in ("Exception", "BaseException") else base


def _cut(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE_CHARS else text[:MAX_MESSAGE_CHARS] + "…"


def error_said(tool: str, test: ErrorTest, value: Any, finish: Callable[[object], object]) -> str:
    """The message of an answer that counts as an error; empty if it counts as none. ``finish`` waits for the test.

    Raises: TypeError: the test returns neither a bool nor a text; what it raises.
    """
    said: Any
    if isinstance(test, str):
        said = value.get(test) if isinstance(value, dict) else None
        said = said if isinstance(said, str) or not said or said is True else value_text(said, MAX_MESSAGE_CHARS)
    else:
        said = finish(test(value))
        if not isinstance(said, bool | str | None):
            raise TypeError(f"it returned a value of the type {type_name(said)}; return True, False or a text")
    if isinstance(said, str):
        return _cut(escape_surrogates(said))
    return _cut(f"{tool} answered {value_text(value, MAX_MESSAGE_CHARS)}") if said else ""


def shows_each_failure() -> bool:
    """Whether the developer wants the traceback of each failure of a tool, also of those that a plan catches."""
    return bool(os.environ.get("CODEPLAN_DEBUG"))


def show_failure(tool: str, traceback: str) -> None:
    """Show the developer a failure of a tool on standard error; an answer that counts as one has no traceback."""
    if traceback:
        echo(f"The tool {tool} failed:\n{traceback}", err=True)


def failure_sentence(error: BaseException) -> str:
    """The error's name and message, on one line."""
    name, said = type_name(error), one_line(message_text(error), MAX_REASON_CHARS)
    return f"{name}: {said}" if said else name
