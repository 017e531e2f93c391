"""What an episode may spend, and what it has spent."""

from __future__ import annotations

import threading
import time

import msgspec

from codeplan.errors import BudgetExceeded, UsageError
from codeplan.types import Usage


class Budget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one episode; None is no limit. An environment's own limit of actions comes on top.

    ``tokens`` counts input and output; it is settled after each call, so the call that passes it is the last.
    Raises UsageError for a negative limit.
    """

    model_calls: int | None = 100
    tokens: int | None = None
    actions: int | None = None
    refinements: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise UsageError(f"the budget {name} is {value}; give a number that is not negative, or leave it out")


class Meter:
    """Counts what an episode spends. Reserve before each act or call; settle what only the answer tells.

    Safe to use from several threads.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.usage = Usage()
        self._counts = {"actions": 0, "model_calls": 0, "refinements": 0}
        self._by_purpose: dict[str, int] = {}
        self._started = time.monotonic()
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        """Wall time since the episode began."""
        return time.monotonic() - self._started

    @property
    def actions(self) -> int:
        return self._counts["actions"]

    @property
    def model_calls(self) -> int:
        return self._counts["model_calls"]

    @property
    def refinements(self) -> int:
        return self._counts["refinements"]

    def calls_for(self, purpose: str) -> int:
        """How many model calls were made for one purpose."""
        return self._by_purpose.get(purpose, 0)

    def reserve_action(self) -> None:
        """Count an action before it is done. Raises BudgetExceeded, and then nothing is counted."""
        self._reserve("actions")

    def reserve_refinement(self) -> None:
        """Count a refinement before it is asked for. Raises BudgetExceeded, and then nothing is counted."""
        self._reserve("refinements")

    def reserve_call(self, purpose: str) -> None:
        """Count a model call before it is made. Raises BudgetExceeded, and then nothing is counted."""
        tokens = self.usage.total_tokens
        if self.budget.tokens is not None and tokens is not None and tokens >= self.budget.tokens:
            raise BudgetExceeded("tokens", tokens, self.budget.tokens)
        self._reserve("model_calls")
        with self._lock:
            self._by_purpose[purpose] = self._by_purpose.get(purpose, 0) + 1

    def settle(self, usage: Usage) -> None:
        """Add the tokens of a call that was answered."""
        with self._lock:
            self.usage = self.usage + usage

    def _reserve(self, kind: str) -> None:
        if self.budget.seconds is not None and self.seconds > self.budget.seconds:
            raise BudgetExceeded("seconds", self.seconds, self.budget.seconds)
        with self._lock:
            limit = getattr(self.budget, kind)
            if limit is not None and self._counts[kind] >= limit:
                raise BudgetExceeded(kind, self._counts[kind] + 1, limit)
            self._counts[kind] += 1
