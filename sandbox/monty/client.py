"""The values that a run exchanges with Monty's client: functions by name, errors, a stand-in for the agent."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, NamedTuple

from codeplan.errors import SandboxError


def load_monty() -> Any:
    """The module of Monty's client. Raises SandboxError if it is not installed."""
    try:
        return import_module("pydantic_monty")
    except ImportError:
        raise SandboxError("Monty is not installed; install it: pip install 'codeplan[monty]'") from None


class EndRequest(NamedTuple):
    """The plan called ``replan`` or ``give_up`` on this line."""

    function: str
    reason: str
    line: int | None


class AgentStandIn:
    """Represents the agent in Monty. It has no attributes: Monty asks the host for each."""


ABSENT: Final = object()
"""The answer for a name that does not exist."""


def named_function(name: str) -> Callable[..., None]:
    """A function by which Monty names a call to the host; it never runs."""

    def function() -> None:
        return None

    function.__name__ = name
    return function


def error_result(kind: str, message: str) -> dict[str, Any]:
    """The answer that raises this exception in the plan."""
    return {"exc_type": kind, "message": message}
