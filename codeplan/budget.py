"""What an episode may spend, and what it has spent."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from codeplan.errors import UsageError

_deadline: ContextVar[float | None] = ContextVar("codeplan_deadline", default=None)


def seconds_left() -> float | None:
    """What an episode's budget grants to the model call that is under way, in seconds; None where it sets no limit.

    A model's client reads it when it is called, in the thread that calls it, and gives up when it has passed.
    """
    deadline = _deadline.get()
    return None if deadline is None else deadline - time.monotonic()


@contextmanager
def deadline_in(seconds: float | None) -> Iterator[None]:
    """Inside, ``seconds_left`` counts down from ``seconds``; None sets no limit."""
    token = _deadline.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


class Budget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one episode; None is no limit. An environment's own limit of actions comes on top.

    ``tokens`` counts input and output, ``money`` US dollars; both are settled after each call, so the call that passes
    one is the last. A call whose tokens or price are not known counts for nothing there. Raises UsageError for a
    negative or infinite limit.
    """

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
                raise UsageError(f"the budget {name} is {value}; give a number that is not negative, or leave it out")
