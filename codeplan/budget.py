"""The budgets of one episode and of many, what an episode uses of its own, and the deadline of a model call.

The temperature of the model calls in progress stands here too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import ClassVar, Literal

import msgspec

from codeplan.errors import BudgetExceeded, ModelError, UsageError
from codeplan.types import NO_USAGE, Result, Usage
from codeplan.untrusted.texts import with_count
from codeplan.untrusted.values import in_quotes

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
    """The temperature of the model call in progress: the method's if it sets one, else the model's own.

    ``of_model`` is the model's setting. If it is None, the endpoint decides and a method has no influence, because some
    models refuse a temperature.
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

    Raises: UsageError: a limit is no number, negative or infinite, or a count is not whole.
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
            if value is None:
                continue
            kind, said = (int | float, "a number") if name in ("money", "seconds") else (int, "a whole number")
            if isinstance(value, bool) or not isinstance(value, kind) or not 0 <= value < float("inf"):
                raise UsageError(f"the budget of {name} is {in_quotes(value)}; give {said} from 0 up, or leave it out")


class TotalBudget(msgspec.Struct, frozen=True, kw_only=True):
    """The budget of many episodes together; None is no limit. Once it is spent, no further episode starts; running
    episodes finish.

    ``money`` (US dollars) and ``tokens`` also count the episodes of an earlier start that this one continues,
    ``seconds`` the wall time since this start. Unknown tokens and prices count as zero. Raises: UsageError for a
    negative number.
    """

    money: float | None = None
    tokens: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise UsageError(f"the total budget of {name} is {value}; give 0 or more")


class Spending:
    """The spending of many episodes against their TotalBudget (None: no limit), counted from any thread.

    ``stopped_by`` is the budget that kept an episode from starting; None if every episode could start.
    """

    def __init__(self, budget: TotalBudget | None = None, results: Iterable[Result] = ()) -> None:
        self._budget = budget or TotalBudget()
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._usages: list[Usage] = []
        self._money, self._tokens = 0.0, 0
        self.model_calls = 0
        self.stopped_by: BudgetExceeded | None = None
        for result in results:
            self.add(result)

    def add(self, result: Result) -> None:
        """Count what an episode spent."""
        with self._lock:
            self.model_calls += result.model_calls
            if result.model_calls:
                self._usages.append(result.usage)
            self._money += result.usage.money or 0.0
            self._tokens += result.usage.total_tokens or 0

    @property
    def exceeded_budget(self) -> BudgetExceeded | None:
        """The budget that is spent; None if none is."""
        spent = {"money": self._money, "tokens": self._tokens, "seconds": time.monotonic() - self._began}
        for kind, value in spent.items():
            limit = getattr(self._budget, kind)
            if limit is not None and value >= limit:
                return BudgetExceeded(kind, value, limit)
        return None

    def refuses(self) -> bool:
        """Whether no further episode may start."""
        self.stopped_by = self.stopped_by or self.exceeded_budget
        return self.stopped_by is not None

    def __str__(self) -> str:
        unpriced = any(usage.money is None for usage in self._usages)
        money = "cost unknown" if unpriced and not self._money else f"${self._money:.2f}"
        money += " and an unknown cost" if unpriced and self._money else ""
        tokens_in = sum(usage.input_tokens or 0 for usage in self._usages)
        tokens_out = sum(usage.output_tokens or 0 for usage in self._usages)
        tokens = f"{with_count(tokens_in, 'token')} in, {tokens_out:,} out"
        unknown = any(usage.total_tokens is None for usage in self._usages)
        tokens += ", more unknown" if unknown else ""
        return f"{with_count(self.model_calls, 'model call')}, {tokens}, {money}"


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

    def left(self) -> tuple[int | None, ...]:
        """How many actions, model calls and refinements the budget allows from now on; None without such a limit."""
        limits = self.budget.actions, self.budget.model_calls, self.budget.refinements
        return tuple(
            None if limit is None else max(0, limit - used)
            for limit, used in zip(limits, self._counts.values(), strict=True)
        )

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
