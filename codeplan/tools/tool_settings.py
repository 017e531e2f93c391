"""``codeplan.tool``: what the user says about a tool beside its code."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, overload

from codeplan.errors import UsageError
from codeplan.untrusted.values import in_quotes

_T = TypeVar("_T")

ErrorTest: TypeAlias = str | Callable[[Any], bool | str | Awaitable[bool | str | None] | None]
"""Says which answers of a tool are errors.

A text is the name of a key: a dict whose value under that key is true is an error. A function gets the value as the
plan would; it returns True or a text, which is the message, for an error, and False for none.
"""

MAX_TIMEOUT: Final = 86_400.0
"""The longest limit for a call, in seconds."""

_MARK: Final = "__codeplan_tool__"


class ToolSettings(NamedTuple):
    """What is said about tools; a field that is None or False says nothing.

    ``once``: an equal call that was answered is not made again. ``timeout`` is how many seconds a call may take.
    ``error_if`` says which answers are errors. ``at_once`` is how many of its calls may run at the same time.
    ``readonly`` says, for flows, that it only reads, ``untrusted`` that strangers write what it answers.
    """

    once: bool = False
    timeout: float | None = None
    error_if: ErrorTest | None = None
    at_once: int | None = None
    readonly: bool = False
    untrusted: bool = False

    def filled_from(self, other: ToolSettings) -> ToolSettings:
        """These settings, with the other ones where these say nothing."""
        timeout = other.timeout if self.timeout is None else self.timeout
        error_if = other.error_if if self.error_if is None else self.error_if
        at_once = other.at_once if self.at_once is None else self.at_once
        readonly, untrusted = self.readonly or other.readonly, self.untrusted or other.untrusted
        return ToolSettings(self.once or other.once, timeout, error_if, at_once, readonly, untrusted)


class ToolsWithSettings:
    """A function, an object, a module or a list of these, with settings for all of its tools.

    For everybody else it is what it wraps: it can be called, and has its attributes.
    """

    def __init__(self, thing: Any, settings: ToolSettings) -> None:
        self.thing, self.settings = thing, settings

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.thing(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.thing, name)


@overload
def tool(
    function: None = None,
    *,
    once: bool = False,
    timeout: float | None = None,
    error_if: ErrorTest | None = None,
    at_once: int | None = None,
    readonly: bool = False,
    untrusted: bool = False,
) -> Callable[[_T], _T]: ...


@overload
def tool(
    function: _T,
    *,
    once: bool = False,
    timeout: float | None = None,
    error_if: ErrorTest | None = None,
    at_once: int | None = None,
    readonly: bool = False,
    untrusted: bool = False,
) -> _T: ...


def tool(
    function: Any = None,
    *,
    once: bool = False,
    timeout: float | None = None,
    error_if: ErrorTest | None = None,
    at_once: int | None = None,
    readonly: bool = False,
    untrusted: bool = False,
) -> Any:
    """Say how codeplan treats a tool: ``@codeplan.tool(timeout=3)``, or ``tools=[codeplan.tool(send, once=True)]``.

    The function stays what it is for everybody else. ``codeplan.tool(thing, …)`` also takes an object, a module or a
    list, and holds for all of its tools; what a function says itself wins.

    ``once``: an equal call that was answered is not made again. ``timeout`` is how many seconds a call may take; then
    the plan gets a TimeoutError, and the call is in doubt. ``error_if`` is a key or a function (see ``ErrorTest``):
    an answer that it names is an error for the plan. ``at_once`` is how many of its calls may run at the same time, if
    a plan begins several: an ordinary function that says more than 1 is safe for threads, and runs in them. Without
    it, asynchronous functions run together, and calls of others one after the other. For flows (``codeplan.flows``),
    ``readonly`` says that it only reads, and ``untrusted`` that strangers may write what it answers.

    Raises: UsageError: a value is wrong, or the decorated thing is not a function.
    """
    limits = require_timeout(timeout, "timeout"), require_error_test(error_if), require_at_once(at_once)
    marks = require_mark(readonly, "readonly"), require_mark(untrusted, "untrusted")
    settings = ToolSettings(require_mark(once, "once"), *limits, *marks)
    if function is None:
        return functools.partial(_mark, settings)
    return function if settings == ToolSettings() else ToolsWithSettings(function, settings)


def _mark(settings: ToolSettings, function: Any) -> Any:
    """Keep the settings on the function itself. Raises: UsageError: it cannot keep them."""
    kept = inspect.unwrap(function.__func__) if isinstance(function, staticmethod | classmethod) else function
    try:
        if isinstance(kept, type) or not callable(kept):
            raise TypeError
        setattr(kept, _MARK, settings.filled_from(settings_of(kept)))
    except (AttributeError, TypeError):
        raise UsageError(
            f"codeplan.tool decorates functions and methods, not {in_quotes(function)}; for anything else, write "
            "tools=[codeplan.tool(…, timeout=3)]"
        ) from None
    return function


def settings_of(function: Any) -> ToolSettings:
    """What the decorator said about a function, inside partial objects and methods."""
    while isinstance(function, functools.partial):
        function = function.func
    found = getattr(getattr(function, "__func__", function), "__dict__", {}).get(_MARK)
    return found if isinstance(found, ToolSettings) else ToolSettings()


def require_mark(given: object, name: str) -> bool:
    """Raises: UsageError: it is not True or False."""
    if not isinstance(given, bool):
        raise UsageError(f"{name} is True or False, not {in_quotes(given)}")
    return given


def require_timeout(seconds: Any, name: str) -> float | None:
    """The limit for a call, None for none. Raises: UsageError: it is not a number of seconds."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= MAX_TIMEOUT:
        raise UsageError(f"{name} is a number of seconds up to {MAX_TIMEOUT:,.0f}, not {in_quotes(seconds)}")
    return float(seconds)


MAX_AT_ONCE: Final = 64
"""The most calls that may run at the same time."""


def require_at_once(at_once: Any) -> int | None:
    """How many calls may run at the same time, None for nothing said. Raises: UsageError: it is not such a number."""
    if at_once is not None and (type(at_once) is not int or not 1 <= at_once <= MAX_AT_ONCE):
        raise UsageError(f"at_once is a whole number from 1 to {MAX_AT_ONCE}, not {in_quotes(at_once)}")
    return at_once


def require_error_test(test: Any) -> ErrorTest | None:
    """Raises: UsageError: it is neither a key nor a function."""
    is_function = callable(test) and not isinstance(test, type)
    if test is None or is_function or (isinstance(test, str) and test):
        return test  # type: ignore[no-any-return]
    raise UsageError(f"error_if is the name of a key, or a function error_if(value), not {in_quotes(test)}")
