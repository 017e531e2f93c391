"""The budget of an episode, and the deadline that it sets for a model call."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ClassVar

import msgspec

from codeplan.errors import UsageError

_deadline: ContextVar[float | None] = ContextVar("codeplan_deadline", default=None)


def seconds_left() -> float | None:
    """The seconds that the budget leaves for the model call in progress; None without a limit.

    The client reads it in the thread of the call, and gives up when the time is over.
    """
    deadline = _deadline.get()
    return None if deadline is None else deadline - time.monotonic()


@contextmanager
def deadline_in(seconds: float | None) -> Iterator[None]:
    """Within the context, ``seconds_left`` counts down from ``seconds``; None sets no limit."""
    token = _deadline.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


class Budget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of one episode; None means no limit. The environment's own action limit applies as well.

    ``tokens`` counts input and output; ``money`` is in US dollars. Both are known only after a call, so the call that
    exceeds one is the last. A call with unknown tokens or price does not count towards them.

    Raises: UsageError: a limit is negative or infinite.
    """

    setting_trust: ClassVar[str] = "recordable"

    model_calls: int | None = 100
    tokens: int | None = None
    money: float | None = None
    actions: int | None = None
    refinements: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UsageError(f"the budget {name} is {value}; give a number from 0 up, or leave it out")
