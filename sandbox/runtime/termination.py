"""Exceptions that end a plan and that the plan itself cannot catch."""

from __future__ import annotations

from types import TracebackType
from typing import Any, NoReturn

from codeplan.sandbox.protocol.limits import MAX_REPORTED


class PlanTermination(BaseException):
    """Base class. Plans can name only subclasses of Exception, so none of their handlers matches."""


class AssertionFailure(PlanTermination):
    """An ``assert`` of the plan failed. ``message`` is the plan's text, or empty.

    ``held`` counts the ``finally`` blocks and exits of contexts that it waits for: their own handlers must not catch
    it. ``is_lost`` is true of one that stands for another, which something may have stopped: no handler catches it.
    """

    def __init__(self, message: str, *, is_lost: bool = False) -> None:
        super().__init__(message)
        self.message, self.held, self.is_lost = message, 0, is_lost


def raise_recorded(failure: PlanTermination) -> NoReturn:
    """Raise a failure that was recorded before, where the plan tries to go on.

    A failed assertion itself goes on only where code for which it waits has ended. Elsewhere another stands for it.
    """
    if type(failure) is AssertionFailure and not failure.held and not failure.is_lost:
        raise AssertionFailure(failure.message, is_lost=True) from None
    raise failure


class ReplanRequested(PlanTermination):
    """The plan called ``replan``. ``step_done`` is true if that call ends its step's block."""

    def __init__(self, reason: str, *, step_done: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.step_done = reason, step_done


class GiveUpRequested(PlanTermination):
    """The plan called ``give_up``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LimitExceeded(PlanTermination):
    """A limit is exceeded. ``limit`` names the field of ``Limits``; ``value`` was requested, ``allowed`` permitted.

    Both are 0 if unknown, as for a MemoryError. ``value`` is capped at ``MAX_REPORTED``: a plan may request more than a
    float can hold.
    """

    def __init__(self, limit: str, value: float, allowed: float) -> None:
        value = min(value, MAX_REPORTED)
        super().__init__(f"{limit}: {value:g} of {allowed:g}")
        self.limit, self.value, self.allowed = limit, value, allowed


class OutOfMemory(Exception):
    """``MemoryError`` as plans write, raise and catch it.

    Python's own means that memory ran out, and ends the plan. This one the plan raises itself, or an operation whose
    result no memory could hold: Python refuses it before it allocates anything.
    """


OutOfMemory.__name__ = OutOfMemory.__qualname__ = "MemoryError"
OutOfMemory.__module__ = "builtins"


_CAUSE: Any = BaseException.__dict__["__cause__"].__get__
_CONTEXT: Any = BaseException.__dict__["__context__"].__get__
_TRACEBACK: Any = BaseException.__dict__["__traceback__"].__get__
_MEMBERS: Any = BaseExceptionGroup.__dict__["exceptions"].__get__
"""What an exception holds, whatever methods its class may have."""


def traceback_of(error: BaseException) -> TracebackType | None:
    """Return an exception's traceback, whatever methods its class may have."""
    trace: TracebackType | None = _TRACEBACK(error)
    return trace


def find_limit(error: BaseException | None) -> LimitExceeded | None:
    """Return the limit behind an exception or behind one in its chain, or None."""
    waiting, seen = [error], set[int]()
    while waiting:
        link = waiting.pop()
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        kind = type(link)  # isinstance would ask the exception itself, by code of the plan
        if type(link) is LimitExceeded:
            return link
        if issubclass(kind, MemoryError):
            return LimitExceeded("memory", 0, 0)
        waiting += [_CAUSE(link), _CONTEXT(link)]
        if issubclass(kind, BaseExceptionGroup):
            waiting += _MEMBERS(link)
    return None
