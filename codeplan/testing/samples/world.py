"""The base of the worlds in which sample plans act.

A world is itself the agent, without an environment: the same calls give the same answers in every process.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

RecordedCall = tuple[str, tuple[Any, ...], dict[str, Any]]


class SampleWorld:
    """Records every question and every call of a public method."""

    def __init__(self) -> None:
        self._calls: list[RecordedCall] = []
        self._asked: list[str] = []

    def __init_subclass__(cls) -> None:
        for name, member in list(vars(cls).items()):
            if inspect.isfunction(member) and not name.startswith("_"):
                setattr(cls, name, _record_calls(name, member))

    def _answer(self, question: str) -> str:
        self._asked.append(question)
        return self._say(question)

    def _say(self, question: str) -> str:
        """Return the stand-in model's answer."""
        return f"answer to {question!r}"


def call_history(world: SampleWorld) -> tuple[list[RecordedCall], list[str]]:
    """Return the calls and the questions so far."""
    return world._calls, world._asked


def answer_function(world: SampleWorld) -> Callable[[str], str]:
    """Return the world's stand-in for a model: rules, so the same question gets the same answer."""
    return world._answer


def _record_calls(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def noting(self: SampleWorld, *args: Any, **kwargs: Any) -> Any:
        self._calls.append((name, args, kwargs))
        return method(self, *args, **kwargs)

    return noting
