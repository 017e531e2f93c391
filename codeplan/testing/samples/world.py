"""A world that a sample plan acts in: what the worlds have in common.

A world is the agent itself, without an environment behind it: the same calls give the same answers in every process.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

RecordedCall = tuple[str, tuple[Any, ...], dict[str, Any]]


class SampleWorld:
    """Base of the worlds: every call of a public method is written down, and every question."""

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
        """What a model would say to the question."""
        return f"answer to {question!r}"


def call_history(world: SampleWorld) -> tuple[list[RecordedCall], list[str]]:
    """The calls and the questions so far."""
    return world._calls, world._asked


def answer_function(world: SampleWorld) -> Callable[[str], str]:
    """The world's stand-in for a model: rules, the same answer to the same question."""
    return world._answer


def _record_calls(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def noting(self: SampleWorld, *args: Any, **kwargs: Any) -> Any:
        self._calls.append((name, args, kwargs))
        return method(self, *args, **kwargs)

    return noting
