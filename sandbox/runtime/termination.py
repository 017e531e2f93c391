"""What ends a plan from within, where the plan itself cannot catch it."""

from __future__ import annotations

import sys

from codeplan.sandbox.limits import MAX_REPORTED


class PlanTermination(BaseException):
    """Base of both. A plan can name only subclasses of Exception, so no handler of its own matches this."""


class AssertionFailure(PlanTermination):
    """An ``assert`` of the plan failed. ``message`` is the text that the plan gave, or empty."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class LimitExceeded(PlanTermination):
    """A limit was passed. ``limit`` names the field of ``Limits``; ``value`` is what was asked for, ``allowed`` what
    may be.

    Both are 0 where they are not known, as for a MemoryError. A value beyond ``MOST_TOLD`` is told as that: a plan may
    ask for more than a float can hold.
    """

    def __init__(self, limit: str, value: float, allowed: float) -> None:
        value = min(value, MAX_REPORTED)
        super().__init__(f"{limit}: {value:g} of {allowed:g}")
        self.limit, self.value, self.allowed = limit, value, allowed


def find_limit(error: BaseException | None) -> LimitExceeded | None:
    """The limit behind an exception: its own, or that of one that was in flight when it was raised.

    None where there is none.
    """
    waiting, seen = [error], set[int]()
    while waiting:
        link = waiting.pop()
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        if isinstance(link, LimitExceeded):
            return link
        if isinstance(link, MemoryError):
            return LimitExceeded("memory", 0, 0)
        if isinstance(link, RecursionError):
            return LimitExceeded("recursion", sys.getrecursionlimit(), sys.getrecursionlimit())
        waiting += [link.__cause__, link.__context__]
    return None
