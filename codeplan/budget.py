"""The budget of an episode, and what is set for the model calls in progress: their deadline and temperature."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ClassVar

import msgspec

from codeplan.errors import UsageError

_deadline: ContextVar[float | None] = ContextVar("codeplan_deadline", default=None)
_temperature: ContextVar[float | None] = ContextVar("codeplan_temperature", default=None)


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


def sampling_temperature(of_model: float | None) -> float | None:
    """The temperature of the model call in progress: the method's if it asks for one, else the model's own.

    ``of_model`` is the model's setting. If it is None the endpoint decides, and a method changes nothing: some models
    refuse a temperature.
    """
    wanted = _temperature.get()
    return of_model if wanted is None or of_model is None else wanted


@contextmanager
def temperature_in(temperature: float | None) -> Iterator[None]:
    """Within the context, models that have a temperature sample at this one; None changes nothing."""
    token = _temperature.set(_temperature.get() if temperature is None else temperature)
    try:
        yield
    finally:
        _temperature.reset(token)


class Budget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of one episode; None means no limit. The environment's own action limit applies as well.

    ``tokens`` counts input and output; ``money`` is in US dollars. Both are known only after a call, so the call that
    exceeds one is the last. A call with unknown tokens or price does not count towards them.

    Raises: UsageError: a limit is negative or infinite.
    """

    setting_trust: ClassVar[str] = "recordable"

    model_calls: int | None = 200
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
