"""The functions that compiled plans call where an operation has to be weighed or watched.

They live in the namespace's builtins under names of the form ``_name_``, which a plan can neither write nor read.
"""

from __future__ import annotations

import operator
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, MutableMapping
from itertools import chain, compress, repeat
from typing import Any, NoReturn, Protocol

from codeplan.sandbox.runtime.size_guard import SizeGuard
from codeplan.sandbox.runtime.termination import AssertionFailure, LimitExceeded, find_limit

MAX_MESSAGE_CHARS = 20_000
"""The longest message of an assertion; what is beyond is cut."""

WRITABLE_TYPES: frozenset[type] = frozenset({list, dict, Counter, defaultdict, OrderedDict, deque})
"""The types whose items a plan may set and delete."""

_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "_mul_": operator.imul,
    "_pow_": operator.ipow,
    "_lshift_": operator.ilshift,
    "_mod_": operator.imod,
}


class FailureRecord(Protocol):
    """What the guards need of the host's side: the place where the first failure is kept."""

    failure: AssertionFailure | LimitExceeded | None


class PlanStopper:
    """Ends the plan: notes why on the host's side before it raises, so that nothing the plan does can hide it."""

    def __init__(self, host: FailureRecord) -> None:
        self._host = host

    def record(self, reason: AssertionFailure | LimitExceeded) -> AssertionFailure | LimitExceeded:
        """Put ``reason`` on record, unless there is a failure already; returns the one that counts."""
        if self._host.failure is None:
            self._host.failure = reason
        return self._host.failure

    def stop(self, reason: AssertionFailure | LimitExceeded) -> NoReturn:
        """Raise ``reason``, or the failure that came before it."""
        raise self.record(reason)

    def stop_at_limit(self, limit: str, value: float, allowed: float) -> NoReturn:
        """Stop at a limit."""
        self.stop(LimitExceeded(limit, value, allowed))

    def raise_if_failed(self) -> None:
        """Raise the failure where there is one: nothing more is done for a plan that has failed."""
        if self._host.failure is not None:
            raise self._host.failure


def make_guards(
    stops: PlanStopper, growth: SizeGuard, space: MutableMapping[str, Any], turns: int
) -> dict[str, object]:
    """The guards of one run, in the namespace ``space``, for at most ``turns`` turns of loops and calls of the plan's
    functions.

    ``_turns_`` gives that many ones and then stops the plan; each turn takes one.
    """

    def out_of_turns() -> NoReturn:
        stops.stop_at_limit("turns", turns + 1, turns)

    left = chain(repeat(1, turns), iter(out_of_turns, None))

    def guard_exception() -> None:
        """Stands first in every handler: a limit that the handler caught goes on as what it is."""
        stops.raise_if_failed()
        reached = find_limit(sys.exception())
        if reached is not None:
            stops.stop(reached)

    def guard_finally() -> None:
        """Stands first in every ``finally``: what that raises may hide a limit from all handlers, as StopIteration does
        in a ``map``. The rest of the block still runs.
        """
        passing = sys.exception()
        reached = find_limit(passing)
        if passing is not None and reached is not None:
            stops.record(reached.with_traceback(passing.__traceback__))

    def fail(*message: object) -> NoReturn:
        stops.stop(AssertionFailure(_truncate_message(str(message[0])) if message else ""))

    def fail_unsaid() -> NoReturn:
        """The assertion's message raised an error: that is told in its place, and the assertion fails all the same."""
        error = sys.exception()
        stops.stop(
            AssertionFailure(
                _truncate_message(f"(the message itself could not be made: {type(error).__name__}{_error_text(error)})")
            )
        )

    def inplace(name: str, old: object, value: object) -> object:
        growth.check(name, old, value)
        return _IN_PLACE[name](old, value)

    def inplace_item(name: str, item: tuple[Any, object, object], value: object) -> None:
        owner, index, old = item
        owner[index] = inplace(name, old, value)

    return {
        "_turns_": left,
        "_turn_": left.__next__,
        "_counted_": compress,
        "_keep_": space.update,
        "_locals_": locals,
        "_exception_": Exception,
        "_guard_exception_": guard_exception,
        "_guard_finally_": guard_finally,
        "_fail_": fail,
        "_fail_unsaid_": fail_unsaid,
        "_inplace_": inplace,
        "_inplace_item_": inplace_item,
        "_item_": read_item,
        "_mul_": growth.mul,
        "_pow_": growth.pow,
        "_lshift_": growth.lshift,
        "_mod_": growth.mod,
        "_format_": growth.format,
        "_slice_": slice,
        "_write_": check_writable,
        "_type_name_": type_name,
    }


def check_writable(owner: Any) -> Any:
    """Pass an object whose items a plan may set, or nobody: then Python itself refuses, and in its own words.

    Raises TypeError for any other.
    """
    kind = type(owner)
    if kind in WRITABLE_TYPES or not (hasattr(kind, "__setitem__") or hasattr(kind, "__delitem__")):
        return owner
    raise TypeError(f"'{kind.__name__}' object does not support item assignment")


def read_item(owner: Any, index: object) -> tuple[Any, object, object]:
    """An item with its place. It is read before the value that is to change it is computed."""
    return owner, index, owner[index]


def type_name(value: object) -> str:
    """The name of a value's type, for messages."""
    return type(value).__name__


def _error_text(error: BaseException | None) -> str:
    """What an error says, after a colon; nothing where it cannot even say that, as of a number too long to write."""
    try:
        return f": {error}"
    except Exception:
        return ""


def _truncate_message(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE_CHARS else text[:MAX_MESSAGE_CHARS] + " … (cut)"
