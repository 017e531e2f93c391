"""Counts what an episode uses, and refuses what its budget does not allow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Literal

from codeplan.budget import Budget, deadline_in
from codeplan.errors import BudgetExceeded, ModelError
from codeplan.types import NO_USAGE, Usage

_TICK = 0.001  # tolerance between the two clocks, in seconds
_ALMOST = 0.05  # a call that the budget ended may end a little earlier, in seconds


class Meter:
    """Counts what an episode uses.

    Callers reserve before each action or call, and settle afterwards what only the answer reveals.

    ``depth`` is the greatest depth of a sub-task so far, None without decomposition. ``clock`` returns seconds from any
    origin. Safe to use from several threads.
    """

    def __init__(self, budget: Budget | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.budget = budget or Budget()
        self.usage = NO_USAGE
        self.depth: int | None = None
        self._known = _nothing()
        self._counts = {"actions": 0, "model_calls": 0, "refinements": 0}
        self._by_purpose: dict[str, int] = {}
        self._clock = clock
        self._started = clock()
        self._lock = threading.Lock()

    def begin_turn(self) -> None:
        """Count from zero: the budget holds for each turn of a session."""
        self.usage, self.depth, self._started = NO_USAGE, None, self._clock()
        self._known, self._counts, self._by_purpose = _nothing(), dict.fromkeys(self._counts, 0), {}

    @property
    def seconds(self) -> float:
        """Wall time since the episode began."""
        return self._clock() - self._started

    @property
    def actions(self) -> int:
        """The actions begun so far."""
        return self._counts["actions"]

    @property
    def model_calls(self) -> int:
        """The model calls begun so far, for any purpose."""
        return self._counts["model_calls"]

    @property
    def refinements(self) -> int:
        """The refinements begun so far."""
        return self._counts["refinements"]

    def note_depth(self, depth: int) -> None:
        """Record that a sub-task of this depth began; the whole task has depth 1."""
        self.depth = max(self.depth or 0, depth)

    def calls_for(self, purpose: str) -> int:
        """The number of model calls for one purpose."""
        return self._by_purpose.get(purpose, 0)

    def time_left(self) -> AbstractContextManager[None]:
        """A context in which ``codeplan.budget.seconds_left`` counts down to the end of the budget's seconds."""
        allowed = self.budget.seconds
        return nullcontext() if allowed is None else deadline_in(allowed - self.seconds)

    def require_time(self) -> None:
        """Raise BudgetExceeded if the budget's seconds are over."""
        allowed = self.budget.seconds
        if allowed is not None and self.seconds > allowed - _ALMOST:
            raise BudgetExceeded("seconds", self.seconds, allowed)

    @contextmanager
    def call(self, purpose: str) -> Iterator[Callable[[Usage], None]]:
        """A context for one model call: counts it, and yields ``settle`` for the usage of its answer.

        Within it, ``seconds_left`` limits the model's client. A failed call is settled with the ``usage`` of its
        error; without one, its cost is unknown.

        Raises: BudgetExceeded: nothing is left before the call, or the call fails after the time is over.
        """
        self.reserve_call(purpose)
        allowed = self.budget.seconds
        try:
            with self.time_left():
                yield self.settle
        except ModelError as error:
            self.settle(error.usage or Usage())
            if allowed is not None and self.seconds > allowed - _TICK:
                raise BudgetExceeded("seconds", self.seconds, allowed) from None
            raise

    def reserve_call(self, purpose: str) -> None:
        """Count a model call before it is made. Raises BudgetExceeded, and then counts nothing."""
        for kind, used in self._known.items():
            limit = getattr(self.budget, kind)
            if limit is not None and used >= limit:
                raise BudgetExceeded(kind, used, limit)
        self.reserve("model_calls")
        with self._lock:
            self._by_purpose[purpose] = self._by_purpose.get(purpose, 0) + 1

    def settle(self, usage: Usage) -> None:
        """Add the usage of an answered call."""
        with self._lock:
            self.usage = self.usage + usage
            self._known["tokens"] += (usage.input_tokens or 0) + (usage.output_tokens or 0)
            self._known["money"] += usage.money or 0.0

    def reserve(self, kind: Literal["actions", "model_calls", "refinements"]) -> None:
        """Count an action or a refinement before it begins. Raises BudgetExceeded, and then counts nothing."""
        if self.budget.seconds is not None and self.seconds > self.budget.seconds:
            raise BudgetExceeded("seconds", self.seconds, self.budget.seconds)
        with self._lock:
            limit = getattr(self.budget, kind)
            if limit is not None and self._counts[kind] >= limit:
                raise BudgetExceeded(kind, self._counts[kind] + 1, limit)
            self._counts[kind] += 1


def _nothing() -> dict[str, float]:
    """Nothing is used yet of what only answers reveal."""
    return {"tokens": 0.0, "money": 0.0}
