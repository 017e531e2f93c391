"""Functions that compiled plans call in place of operations that must be checked or counted.

They are builtins of the namespace with names of the form ``_name_``, which a plan can neither write nor read.
"""

from __future__ import annotations

import operator
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from itertools import chain, compress, repeat
from typing import Any, NoReturn

from codeplan.sandbox.runtime.current_run import CurrentRun
from codeplan.sandbox.runtime.size_guard import SizeGuard
from codeplan.sandbox.runtime.termination import AssertionFailure, LimitExceeded, PlanTermination, find_limit

MAX_MESSAGE_CHARS = 20_000
"""Longer messages of assertions and reasons of ``replan`` are truncated to this many characters."""

WRITABLE_TYPES: frozenset[type] = frozenset({list, dict, Counter, defaultdict, OrderedDict, deque})
"""The types whose items a plan may set and delete."""

_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "_mul_": operator.imul,
    "_pow_": operator.ipow,
    "_lshift_": operator.ilshift,
    "_mod_": operator.imod,
}


class PlanStopper:
    """Ends the plan. It records the reason with the run's host before it raises, so that the plan cannot hide it."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run

    def record(self, reason: PlanTermination) -> PlanTermination:
        """Record ``reason`` unless a failure is recorded already. Return the recorded failure."""
        host = self._run.host
        if host.failure is None:
            host.failure = reason
        return host.failure

    def stop(self, reason: PlanTermination) -> NoReturn:
        """Raise ``reason``, or the failure that was recorded before it."""
        raise self.record(reason)

    def stop_at_limit(self, limit: str, value: float, allowed: float) -> NoReturn:
        """Stop because a limit is exceeded."""
        self.stop(LimitExceeded(limit, value, allowed))

    def raise_if_failed(self) -> None:
        """Raise the recorded failure, if any, so that a failed plan can do nothing more."""
        failure = self._run.host.failure
        if failure is not None:
            raise failure


def count_turns(stopper: PlanStopper, turns: int) -> dict[str, object]:
    """Return the guards that cap one run's loop iterations and calls of the plan's functions together.

    ``_turns_`` yields ``turns`` ones, one for each turn, and then stops the plan.
    """

    def out_of_turns() -> NoReturn:
        stopper.stop_at_limit("turns", turns + 1, turns)

    left = chain(repeat(1, turns), iter(out_of_turns, None))
    return {"_turns_": left, "_turn_": left.__next__}


def make_guards(stopper: PlanStopper, size_guard: SizeGuard) -> dict[str, object]:
    """Return the guards that are the same for every run."""
    return {
        **_failure_guards(stopper),
        **_inplace_guards(size_guard),
        "_counted_": compress,
        "_locals_": locals,
        "_exception_": Exception,
        "_item_": read_item,
        "_mul_": size_guard.mul,
        "_pow_": size_guard.pow,
        "_lshift_": size_guard.lshift,
        "_mod_": size_guard.mod,
        "_format_": size_guard.format,
        "_slice_": slice,
        "_write_": check_writable,
        "_type_name_": type_name,
    }


def _failure_guards(stopper: PlanStopper) -> dict[str, object]:
    """The guards of handlers, of ``finally`` and of assertions: a plan cannot catch or hide its own end."""

    def guard_exception() -> None:
        """Run first in every handler: re-raise a limit that the handler caught."""
        stopper.raise_if_failed()
        reached = find_limit(sys.exception())
        if reached is not None:
            stopper.stop(reached)

    def guard_finally() -> None:
        """Run first in every ``finally``: record a limit that the block may hide, as StopIteration in ``map`` does."""
        passing = sys.exception()
        reached = find_limit(passing)
        if passing is not None and reached is not None:
            stopper.record(reached.with_traceback(passing.__traceback__))

    def fail(*message: object) -> NoReturn:
        stopper.stop(AssertionFailure(truncate_message(str(message[0])) if message else ""))

    def fail_unprinted() -> NoReturn:
        """Fail an assertion whose message raised an error, and report that error instead."""
        error = sys.exception()
        stopper.stop(
            AssertionFailure(
                truncate_message(f"(the message itself could not be made: {type(error).__name__}{_error_text(error)})")
            )
        )

    return {
        "_guard_exception_": guard_exception,
        "_guard_finally_": guard_finally,
        "_fail_": fail,
        "_fail_unprinted_": fail_unprinted,
    }


def _inplace_guards(size_guard: SizeGuard) -> dict[str, object]:
    """The guards of augmented assignments, such as ``x *= y``: the size of the result is checked before it is made."""

    def inplace(name: str, old: object, value: object) -> object:
        size_guard.check(name, old, value)
        return _IN_PLACE[name](old, value)

    def inplace_item(name: str, item: tuple[Any, object, object], value: object) -> None:
        owner, index, old = item
        owner[index] = inplace(name, old, value)

    return {"_inplace_": inplace, "_inplace_item_": inplace_item}


def check_writable(owner: Any) -> Any:
    """Return ``owner`` if a plan may set its items, or if Python itself refuses to.

    Raises: TypeError: the owner supports item assignment, but plans may not use it.
    """
    kind = type(owner)
    if kind in WRITABLE_TYPES or not (hasattr(kind, "__setitem__") or hasattr(kind, "__delitem__")):
        return owner
    raise TypeError(f"'{kind.__name__}' object does not support item assignment")


def read_item(owner: Any, index: object) -> tuple[Any, object, object]:
    """Return an item with its owner and index, read before the new value is computed."""
    return owner, index, owner[index]


def type_name(value: object) -> str:
    """Return the name of a value's type, for messages."""
    return type(value).__name__


def _error_text(error: BaseException | None) -> str:
    """Return an error's message after a colon, or "" if it has none, such as for a number too long to print."""
    try:
        return f": {error}"
    except Exception:
        return ""


def truncate_message(text: str) -> str:
    """Return a text of the plan, cut to ``MAX_MESSAGE_CHARS`` characters."""
    return text if len(text) <= MAX_MESSAGE_CHARS else text[:MAX_MESSAGE_CHARS] + " … (cut)"
