"""Functions that compiled plans call in place of operations that must be checked or counted.

They are builtins of the namespace with names of the form ``_name_``, which a plan can neither write nor read. The size
guard refuses operations in which a few characters of code make a huge value: early and with a clear message. The memory
limit of the process stops the rest.
"""

from __future__ import annotations

import contextlib
import math
import operator
import random
import re
import sys
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain, compress, repeat
from types import AsyncGeneratorType, FunctionType, GeneratorType
from typing import Any, Final, NamedTuple, NoReturn, Protocol, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary, WeakValueDictionary

from codeplan.sandbox.protocol.forms import Form
from codeplan.sandbox.runtime.arrays import Array
from codeplan.sandbox.runtime.classes import (
    IMMUTABLE_TYPE,
    build_class,
    is_class,
    is_plan_class,
    writable_class,
    writable_owner,
)
from codeplan.sandbox.runtime.elements import Element
from codeplan.sandbox.runtime.names import is_readable, is_reserved
from codeplan.sandbox.runtime.termination import (
    AssertionFailure,
    LimitExceeded,
    OutOfMemory,
    PlanTermination,
    find_limit,
    raise_recorded,
    traceback_of,
)
from codeplan.sandbox.runtime.user_imports import is_from_admitted

StopAtLimit = Callable[[str, float, float], NoReturn]
"""Ends the plan: name of the limit, requested value, allowed value."""

MAX_TEXT = 20_000_000
"""Maximum length of a text or bytes that one operation makes."""

MAX_ITEMS = 2_000_000
"""Maximum length of a list or tuple that a multiplication makes."""

MAX_BITS = 1_000_000
"""Maximum size of an integer that one operation makes, in bits (three hundred thousand digits)."""

MAX_MODULUS_BITS = 100_000
"""Maximum size of the numbers of ``pow(a, b, modulus)``, in bits: it multiplies once for each bit."""

MAX_WIDTH = 10_000
"""Maximum width or precision in a format."""

_SMALL = 2**64
_POINTER = 8  # bytes of an item in a list
_DIGITS = len(str(sys.maxsize))
_SHIFT_BITS = 70  # Python makes no integer with so many bits that their number has as many
_NUMBER = re.compile(r"(\.?)(\d{5,})")
_LARGE_OR_GIVEN = re.compile(r"\d{5}|\*")
_CONVERSION = re.compile(r"[-+ #0]*+(\d++|\*)?+(?:\.(\d++|\*)?+)?+[hlL]?+(.)?+", re.DOTALL)
_BRACKET = re.compile(r"[()]")
_MAX_INT = 2**31 - 1
_FLOAT_PRECISION = _MAX_INT - 1025
_MAX_PRECISION: dict[str, int] = {**dict.fromkeys("diuxXo", _MAX_INT - 3), **dict.fromkeys("eEfFgG", _FLOAT_PRECISION)}
"""The largest precision that Python accepts in a conversion that grows with it: it raises an error for a larger one."""
_FLOAT_KINDS = frozenset("eEfFgG")
_MAX_LENGTHS: dict[type, int] = {
    str: MAX_TEXT,
    bytes: MAX_TEXT,
    list: MAX_ITEMS,
    tuple: MAX_ITEMS,
    deque: MAX_ITEMS,
    bytearray: MAX_TEXT,
    Array: MAX_ITEMS,
}


def set_name(name: str, function: _Function) -> _Function:
    """Return the function with this name in errors and in its repr."""
    function.__qualname__ = function.__name__ = name
    function.__module__ = "builtins"
    return function


def show_as(module: str, *kinds: type) -> None:
    """Give the methods of these classes the names that they have in Python's errors."""
    for kind in kinds:
        for method in vars(kind).values():
            if type(method) is FunctionType:
                method.__module__, method.__qualname__ = module, f"{kind.__name__}.{method.__name__}"
        kind.__module__, kind.__qualname__ = module, kind.__name__


class SizeGuard:
    """The checked operations. A huge result ends the plan with the limit ``memory``."""

    def __init__(self, limit: StopAtLimit) -> None:
        self._limit = limit

    def mul(self, a: Any, b: Any) -> Any:
        """``a * b``"""
        if type(a) is int and type(b) is int:
            # Both integers are within the cap, so the product is cheap.
            product = a * b
            if -_SMALL < product < _SMALL:
                return product
        self._check_mul(a, b)
        return a * b

    def pow(self, a: Any, b: Any) -> Any:
        """``a ** b``"""
        self.check_power(a, b)
        return a**b

    def lshift(self, a: Any, b: Any) -> Any:
        """``a << b``"""
        self._check_shift(a, b)
        return a << b

    def mod(self, a: Any, b: Any) -> Any:
        """``a % b``, which formats if ``a`` is a text"""
        if issubclass(type(a), (str, bytes, bytearray)):
            b = self._check_percent(a, b)
        return a % b

    def format(self, value: Any, spec: Any = "") -> str:
        """``format(value, spec)``"""
        if type(spec) is str:
            self._check_widths(spec, _accepted_precision(type(value)))
        return format(value, spec)

    def check(self, guard: str, a: Any, b: Any) -> Any:
        """Check an operation, named by its guard, without executing it. Returns ``b`` as Python is to have it."""
        if guard == "_mul_":
            self._check_mul(a, b)
        elif guard == "_pow_":
            self.check_power(a, b)
        elif guard == "_lshift_":
            self._check_shift(a, b)
        elif guard == "_mod_" and issubclass(type(a), (str, bytes, bytearray)):
            return self._check_percent(a, b)
        return b

    def check_power(self, a: Any, b: Any, modulus: Any = None) -> None:
        """Check ``pow(a, b, modulus)``."""
        if modulus is not None:
            for number in (a, b, modulus):
                self._check_bits(_bits(number) if _is_int(number) else 0, MAX_MODULUS_BITS)
            return
        exponent = b.numerator if type(b) is Fraction and b.denominator == 1 else b
        if _is_int(exponent) and (_is_int(a) or type(a) is Fraction):
            exponent = int.__int__(exponent)
            grows = not _is_int(a) or int.__abs__(a) > 1
            self._check_bits(_bits(a) * (exponent if _is_int(a) and _is_int(b) else abs(exponent)) if grows else 1)

    def check_text(self, length: int) -> None:
        """Check the length of a text or bytes that an operation has made."""
        if length > MAX_TEXT:
            self._limit("memory", length, MAX_TEXT)

    def check_bits(self, bits: Any) -> None:
        """Check the size of an integer that an operation is to make, if it is a number."""
        if _is_int(bits):
            self._check_bits(int.__int__(bits))

    def check_width(self, width: Any) -> None:
        """Check the width to which a text is padded. Python itself refuses one that is no index."""
        if type(width) is int and MAX_WIDTH < width <= sys.maxsize:
            self._limit("memory", width, MAX_WIDTH)

    def _check_widths(self, spec: str, precision: float) -> None:
        """Check the widths in a spec. Python itself refuses a precision above ``precision``, or ignores it."""
        for point, digits in _NUMBER.findall(spec):
            number = _number(digits)
            self.check_width(number if not point or number <= precision else 0)

    def _check_shift(self, a: Any, b: Any) -> None:
        if _is_int(a) and _is_int(b) and _bits(a) and not int.__int__(b) >> _SHIFT_BITS:
            self._check_bits(_bits(a) + int.__int__(b))

    def _check_mul(self, a: Any, b: Any) -> None:
        if (_is_int(a) or type(a) is Fraction) and (_is_int(b) or type(b) is Fraction):
            self._check_bits(_bits(a) + _bits(b))
            return
        self._check_repeat(a, b)
        self._check_repeat(b, a)

    def _check_repeat(self, sequence: Any, times: Any) -> None:
        most = _MAX_LENGTHS.get(type(sequence))
        if most is None or not _is_int(times) or int.__int__(times) > sys.maxsize:  # Python itself refuses this one
            return
        length = len(sequence) * int.__int__(times)
        if type(sequence) is deque and sequence.maxlen is not None:
            length = min(length, sequence.maxlen)
        if length * (_POINTER if type(sequence) in (list, tuple) else 1) > sys.maxsize:
            if type(sequence) in (str, bytes):
                return
            raise OutOfMemory
        if length > most:
            self._limit("memory", length, most)

    def _check_bits(self, bits: int, most: int = MAX_BITS) -> None:
        if bits > most:
            self._limit("memory", bits, most)

    def _check_percent(self, template: str | bytes | bytearray, values: Any) -> Any:
        """Check a template and return its values as Python is to have them."""
        text = template if isinstance(template, str) else _latin(template)
        if _LARGE_OR_GIVEN.search(text):
            given = tuple.__iter__(values) if issubclass(type(values), tuple) else iter((values,))
            for key, width, precision, kind in _conversions(text):
                self.check_width(abs(_number(width, given)))
                digits = _number(precision, given)
                value = next(given, None) if kind != "%" and key is None else None
                endless = type(value) is float and not math.isfinite(value)  # shown without digits
                self.check_width(digits if digits <= _MAX_PRECISION.get(kind, 0) and not endless else 0)
        return values if isinstance(template, str) or "%" not in text else _with_floats(text, values)


def _conversions(text: str) -> Iterator[tuple[str | None, str, str, str]]:
    """Yield, for each conversion of a template, its key (None: it has none), its width, its precision and its kind.

    None follows a key without an end, at which Python raises an error.
    """
    at = text.find("%") + 1
    while at:
        key: str | None = None
        if text.startswith("(", at):
            depth = 0
            for bracket in _BRACKET.finditer(text, at):
                depth += 1 if bracket[0] == "(" else -1
                if not depth:
                    key, at = text[at + 1 : bracket.start()], bracket.end()
                    break
            else:
                return
        found = _CONVERSION.match(text, at)
        if found is not None:  # always: it matches the empty text
            width, precision, kind = found.groups("")
            yield key, width, precision, kind
            at = found.end()
        at = text.find("%", at) + 1


def _with_floats(text: str, values: Any) -> Any:
    """Return the values of a template of bytes with a float for each object of the plan that it writes as one: Python
    would put an error of its own in the place of a limit.
    """
    given = [*tuple.__iter__(values)] if issubclass(type(values), tuple) else [values]
    parts = values.values() if type(values) is dict else given
    if all(type(part).__flags__ & IMMUTABLE_TYPE for part in parts):
        return values
    named, at = dict[bytes, Any](), 0
    for key, width, precision, kind in _conversions(text):
        is_float = kind in _FLOAT_KINDS
        at += (width == "*") + (precision == "*")
        if key is not None:
            name = key.encode("latin-1")
            named[name] = _as_float(values[name]) if is_float else values[name]
        elif is_float and at < len(given):
            given[at] = _as_float(given[at])
        at += kind != "%" and key is None
    return named or (tuple(given) if issubclass(type(values), tuple) else given[0])


def _as_float(value: Any) -> Any:
    """Return an object of the plan as a float. Raises: TypeError: it is none."""
    refusal = TypeError(f"float argument required, not {type(value).__name__}")
    return ask_first(lambda number: math.ldexp(number, 0), value, refusal)


def ask_first(ask: Callable[[Any], Any], value: Any, refusal: Exception) -> Any:
    """Return what ``ask`` makes of an object, in place of a function in C that hides what ends the plan behind an error
    of its own, ``refusal``. What is written in C stays as it is; a Fraction may hold what a plan wrote.
    """
    if type(value).__flags__ & IMMUTABLE_TYPE:
        return value
    try:
        return ask(value)
    except Exception as error:
        if find_limit(error) is not None:
            raise
        raise refusal from None


def _latin(template: bytes | bytearray) -> str:
    """Return bytes as a text, by no method that the plan wrote."""
    decode: Any = bytearray.decode if type(template) is bytearray else bytes.decode
    return str(decode(template, "latin-1"))


def _number(text: str, given: Iterator[Any] | None = None) -> int:
    """Return the number that a format names; ``*`` is the next that is given. 0 for one that Python itself refuses."""
    if text == "*":
        number: Any = next(given or iter(()), None)
        return int.__int__(number) if _is_int(number) else 0
    digits = text.lstrip("0")
    return int(digits) if 0 < len(digits) <= _DIGITS else 0


def _accepted_precision(kind: type) -> float:
    """Return the largest precision in a format of such a value that Python accepts, and that makes the text longer."""
    if issubclass(kind, (int, float, complex)):
        return _FLOAT_PRECISION
    return 0 if kind is str else math.inf


def _is_int(value: object) -> bool:
    """Return whether a value is a whole number, also of a class of the plan. An object cannot pose as one."""
    return issubclass(type(value), int)


def _bits(number: int | Fraction) -> int:
    """Return the size of a number; its class may have methods that the plan wrote."""
    return (
        max(map(int.bit_length, number.as_integer_ratio())) if isinstance(number, Fraction) else int.bit_length(number)
    )


class CallAnswer(NamedTuple):
    """What a wait ended with after this many ``seconds``: the answer of the open call ``number``, its value or its
    error; 0 if there was none in time.
    """

    number: int
    seconds: float
    value: object = None
    error: Exception | None = None


class HostCalls(Protocol):
    """The host's side of a run.

    ``failure`` is set before it is raised, so that code that runs later (a ``finally``) cannot replace it. ``call``,
    ``read`` and ``ask`` raise RuntimeError with a message that the plan may see.
    """

    methods: frozenset[str]
    attributes: frozenset[str]
    failure: PlanTermination | None

    def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """Call a method of the agent with plain data. No other call is open."""
        ...

    def begin(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        """Begin a call of a method of the agent, and return its number without waiting for the answer."""
        ...

    def wait(self, seconds: float | None) -> CallAnswer:
        """Wait for the next answer of an open call, for ``seconds`` at most (None: without a limit)."""
        ...

    def sleep(self, seconds: float) -> None:
        """Sleep, while no call is open. This time counts as the plan's own."""
        ...

    def cancel(self, number: int) -> bool:
        """Drop an open call that is not made yet. False: it is being made, and will be answered."""
        ...

    def read(self, attribute: str) -> object:
        """Return the current value of an attribute of the agent."""
        ...

    def ask(self, question: str, data: object, form: Form | None, wrong: str) -> object:
        """Ask the model, about plain data (None: without). Returns a text; with a form, a list as in AskFrame.

        ``wrong`` says what the answer before lacked, if this is the same question again; otherwise it is empty.
        """
        ...

    @property
    def can_ask(self) -> bool:
        """Whether the plan may ask the model once more."""
        ...

    def print(self, text: str) -> None:
        """Receive a piece of the plan's output."""
        ...


class RunSettings(NamedTuple):
    """What makes runs of the same plan alike.

    ``seed`` is that of its random numbers, ``started`` the Unix time at which its clock begins, ``recursion`` its
    depth of calls. ``wall`` seconds are the most that it may sleep; it only waits if ``waits`` is true: a replay need
    not.
    """

    seed: int = 0
    started: float = 0.0
    recursion: int = 1_000
    wall: float = math.inf
    waits: bool = True


class CurrentRun:
    """The run's host and settings, its random numbers, its clock, and the objects whose identity it knows.

    ``unsaid`` stands for an assertion that fails where no further call fits, which its own failure would need.
    """

    host: HostCalls
    settings: RunSettings

    def __init__(self) -> None:
        self.generator: random.Random = random._inst  # the same as ``statistics`` uses

    def begin(self, host: HostCalls, settings: RunSettings) -> None:
        """Serve this run from now on."""
        self.host, self.settings = host, settings
        self.unsaid = AssertionFailure("(the message itself could not be made: RecursionError)", is_lost=True)
        self.generator.seed(settings.seed)
        self.started_ns, self.elapsed_ns, self.asleep = int(settings.started * 10**9), 0, 0.0
        self.identities: dict[int, tuple[object, int]] = {}


_Function = TypeVar("_Function", bound=Callable[..., object])

MAX_MESSAGE_CHARS = 20_000
"""Longer messages of assertions and reasons of ``replan`` are truncated to this many characters."""

WRITABLE_TYPES: frozenset[type] = frozenset(
    {list, dict, bytearray, Array, Counter, ChainMap, defaultdict, OrderedDict, deque, Element}
    | {WeakKeyDictionary, WeakValueDictionary}
)
"""The types whose items a plan may set and delete."""

ITEM_WRITERS: dict[type, Callable[[Any], Any]] = {}
"""What sets items of other types, with checks. Modules of the plan add theirs."""

_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "_mul_": operator.imul,
    "_pow_": operator.ipow,
    "_lshift_": operator.ilshift,
    "_mod_": operator.imod,
}


class PlanStopper:
    """Ends the plan. It records the reason with the run's host before it raises, so that the plan cannot hide it."""

    def __init__(self, run: CurrentRun) -> None:
        self.run = run

    def record(self, reason: PlanTermination) -> PlanTermination:
        """Record ``reason`` unless a failure is recorded already. Return the recorded failure.

        A limit takes the place of a failed assertion, which a handler may catch.
        """
        host = self.run.host
        if host.failure is None or (type(host.failure) is AssertionFailure and type(reason) is LimitExceeded):
            host.failure = reason
        return host.failure

    @property
    def failure(self) -> PlanTermination | None:
        """The recorded failure."""
        return self.run.host.failure

    def forget_failure(self) -> None:
        """Go on after a failed assertion that a handler of the plan caught by name."""
        self.run.host.failure = None

    def stop(self, reason: PlanTermination) -> NoReturn:
        """Raise ``reason``, or the failure that was recorded before it."""
        recorded = self.record(reason)
        if recorded is not reason:
            raise_recorded(recorded)
        raise reason

    def stop_at_limit(self, limit: str, value: float, allowed: float) -> NoReturn:
        """Stop because a limit is exceeded."""
        self.stop(LimitExceeded(limit, value, allowed))

    def raise_if_failed(self) -> None:
        """Raise the recorded failure, if any, so that a failed plan can do nothing more."""
        failure = self.run.host.failure
        if failure is not None:
            raise_recorded(failure)


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
        **_handler_guards(stopper),
        **_assertion_guards(stopper),
        **_inplace_guards(size_guard),
        "_counted_": compress,
        "_locals_": locals,
        "_exception_": Exception,
        "_item_": read_item,
        "_attribute_": read_attribute,
        "_mul_": size_guard.mul,
        "_pow_": size_guard.pow,
        "_lshift_": size_guard.lshift,
        "_mod_": size_guard.mod,
        "_format_": size_guard.format,
        "_slice_": slice,
        "_write_": check_writable,
        "_writable_": writable_owner,
        "_writable_class_": writable_class,
        "_type_name_": type_name,
        "_import_missing_": raise_missing,
        "__build_class__": build_class,
    }


_NOT_FAILED: Final = AssertionFailure("")
"""What waits where no assertion has failed."""


def _as_assertion_error(failure: AssertionFailure) -> AssertionError:
    """A failed assertion as the plan's handlers see it."""
    shown = AssertionError(failure.message) if failure.message else AssertionError()
    return shown.with_traceback(traceback_of(failure))


def shown_exception() -> Exception | None:
    """The exception that is being handled, as the plan may have it: None for what ends the plan."""
    error = sys.exception()
    if type(error) is AssertionFailure:
        return _as_assertion_error(error)
    return error if issubclass(type(error), Exception) and find_limit(error) is None else None  # type: ignore[return-value]


def _handler_guards(stopper: PlanStopper) -> dict[str, object]:
    """The guards of handlers and of ``finally``: a plan cannot catch or hide its own end."""

    def guard_exception() -> None:
        """Run first in every handler: re-raise what ends the plan, or a limit behind what the handler caught."""
        error = sys.exception()
        if issubclass(type(error), PlanTermination):
            stopper.stop(cast(PlanTermination, error))
        stopper.raise_if_failed()
        reached = find_limit(error)
        if reached is not None:
            stopper.stop(reached)

    def guard_finally() -> AssertionFailure:
        """Run first in every ``finally``: record a limit that the block may hide, as StopIteration in ``map`` does.

        Returns the failed assertion that waits for the block, which counts down its ``held`` at its end.
        """
        passing = sys.exception()
        reached = find_limit(passing)
        if passing is not None and reached is not None:
            stopper.record(reached.with_traceback(traceback_of(passing)))
        if type(passing) is not AssertionFailure:
            return _NOT_FAILED
        passing.held += 1
        return passing

    def catchable(kinds: Any) -> Any:
        """The types of a handler that names AssertionError, with the type of a failed assertion."""
        named = kinds if type(kinds) is tuple else (kinds,)
        return (*named, AssertionFailure) if any(kind is AssertionError for kind in named) else kinds

    def caught() -> BaseException | None:
        """Run first in a handler that may catch a failed assertion. Returns the exception as the plan sees it."""
        error = sys.exception()
        if type(error) is not AssertionFailure:
            guard_exception()
            return error
        reached = find_limit(error)
        if reached is not None or error.held or error.is_lost or stopper.failure not in (None, error):
            stopper.stop(reached or error)
        shown = _as_assertion_error(error)
        stopper.forget_failure()
        return shown

    return {
        "_catchable_": catchable,
        "_caught_": caught,
        "_context_": partial(GuardedContext, stopper),
        "_async_context_": partial(GuardedContext, stopper),
        "_guard_exception_": guard_exception,
        "_guard_finally_": guard_finally,
        "_guard_jump_": stopper.raise_if_failed,
        "_termination_": PlanTermination,
        "_anything_": BaseException,
    }


def _assertion_guards(stopper: PlanStopper) -> dict[str, object]:
    """What a failed assertion calls."""

    def fail_with(text: str = "") -> NoReturn:
        """Fail an assertion. ``unsaid`` is recorded already, unless another failure is."""
        failure = AssertionFailure(truncate_message(text))
        if stopper.failure is not stopper.run.unsaid:
            stopper.stop(failure)
        stopper.run.host.failure = failure
        raise failure

    def fail(message: object) -> NoReturn:
        stopper.stop(AssertionFailure(truncate_message(str(message))))

    def fail_unsaid() -> NoReturn:
        """Fail an assertion whose message raised an error, and report that error instead."""
        error = sys.exception()
        fail_with(f"(the message itself could not be made: {type(error).__name__}{_error_text(error)})")

    return {"_fail_": fail, "_fail_with_": fail_with, "_fail_unsaid_": fail_unsaid}


class ExitFunction:
    """A function of the plan that ``ExitStack.push`` calls as a context's ``__exit__``."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    def __exit__(self, *error: object) -> object:
        return self._function(*error)


class AsyncExitFunction:
    """A function of the plan that ``AsyncExitStack.push_async_exit`` awaits as a context's ``__aexit__``."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    async def __aexit__(self, *error: object) -> object:
        return await self._function(*error)


GETS_END: set[type] = {contextlib._AsyncGeneratorContextManager, contextlib._GeneratorContextManager}
"""The context managers that get what ends the plan as it is. Modules of the plan add theirs: stacks of guarded
contexts, and what does not wait for its tasks then.
"""

_DELEGATED: Final[tuple[Any, ...]] = (
    [],
    (),
    "a",
    "\u00e9",
    b"",
    {},
    {}.values(),
    {}.items(),
    set(),
    range(0),
    range(2**70),
)
_WITHOUT_THROW: Final = frozenset({*(type(iter(part)) for part in _DELEGATED), enumerate, filter, map, zip})
"""Iterators to which a generator may delegate and that hand what is thrown into it to nobody."""


def _gets_end(manager: Any) -> bool:
    """Return whether a context manager gets what ends the plan as it is.

    That of ``contextmanager`` does so only if no object of the plan can be the one that gets it: neither in place of
    its generator nor where this stands in ``yield from``. An asynchronous generator delegates to nothing.
    """
    kind = type(manager)
    if kind not in GETS_END:
        return False
    if not issubclass(kind, contextlib._GeneratorContextManager | contextlib._AsyncGeneratorContextManager):
        return True
    part: Any = getattr(manager, "gen", None)
    while type(part) is GeneratorType:
        part = part.gi_yieldfrom
    return part is None or type(part) is AsyncGeneratorType or type(part) in _WITHOUT_THROW


class GuardedContext:
    """The context manager of a plan's ``with`` or ``async with``. It closes what it opened, but hides no end of the
    plan.
    """

    __slots__ = ("_manager", "_stopper")

    def __init__(self, stopper: PlanStopper, manager: Any) -> None:
        self._stopper, self._manager = stopper, manager

    def __enter__(self) -> object:
        return self._kind_with("__enter__", "__exit__", "context manager").__enter__(self._manager)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        ends = self._note(error)
        waits = self._waiting(ends)
        waits.held += 1
        try:
            hides = type(self._manager).__exit__(self._manager, *self._shown(ends, kind, error, trace))
        finally:
            waits.held -= 1
        return self._may_hide(hides, ends)

    async def __aenter__(self) -> object:
        kind = self._kind_with("__aenter__", "__aexit__", "asynchronous context manager")
        return await kind.__aenter__(self._manager)

    async def __aexit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        ends = self._note(error)
        waits = self._waiting(ends)
        waits.held += 1
        try:
            hides = await type(self._manager).__aexit__(self._manager, *self._shown(ends, kind, error, trace))
        finally:
            waits.held -= 1
        return self._may_hide(hides, ends)

    def _kind_with(self, enter: str, leave: str, protocol: str) -> Any:
        """Return the manager's type. Raises TypeError, in Python's words: it lacks one of the two methods."""
        kind = type(self._manager)
        missing = [name for name in (enter, leave) if not hasattr(kind, name)]
        if missing:
            lacks = f"missed {leave} method" if missing == [leave] else ""
            text = f"'{kind.__name__}' object does not support the {protocol} protocol"
            raise TypeError(f"{text} ({lacks})" if lacks else text)
        return kind

    def _note(self, error: BaseException | None) -> PlanTermination | None:
        """Return what ends the plan, recorded; None if the plan goes on."""
        ends: PlanTermination | None = find_limit(error)
        if ends is None and issubclass(type(error), PlanTermination):  # by no hook of the plan
            ends = cast(PlanTermination, error)
        if ends is not None:
            self._stopper.record(ends)
        return ends

    def _waiting(self, ends: PlanTermination | None) -> AssertionFailure:
        """Return the failed assertion that waits while the manager's code runs. Generators and stacks catch it."""
        waits = type(ends) is AssertionFailure and not _gets_end(self._manager)
        return cast(AssertionFailure, ends) if waits else _NOT_FAILED

    def _shown(
        self, ends: PlanTermination | None, kind: Any, error: BaseException | None, trace: Any
    ) -> tuple[Any, BaseException | None, Any]:
        """Return what the manager gets. Whatever the plan may have written must not get what ends the plan."""
        if ends is None or _gets_end(self._manager):
            return kind, error, trace
        shown = _as_assertion_error(ends).with_traceback(None) if type(ends) is AssertionFailure else RuntimeError()
        return type(shown), shown, None

    def _may_hide(self, hides: object, ends: PlanTermination | None) -> bool:
        """Return whether the error goes no further: also if a generator's handler has caught an assertion by name."""
        caught = type(ends) is AssertionFailure and self._stopper.failure is None
        return bool(hides) and (ends is None or caught)


def _inplace_guards(size_guard: SizeGuard) -> dict[str, object]:
    """The guards of augmented assignments, such as ``x *= y``: the size of the result is checked before it is made."""

    def inplace(name: str, old: object, value: object) -> object:
        return _IN_PLACE[name](old, size_guard.check(name, old, value))

    def inplace_item(name: str, item: tuple[Any, object, object], value: object) -> None:
        owner, index, old = item
        owner[index] = inplace(name, old, value)

    def inplace_attribute(name: str, attribute: tuple[Any, str, object], value: object) -> None:
        owner, key, old = attribute
        setattr(owner, key, inplace(name, old, value))

    return {"_inplace_": inplace, "_inplace_item_": inplace_item, "_inplace_attribute_": inplace_attribute}


def check_writable(owner: Any) -> Any:
    """Return ``owner`` if a plan may set its items, or if Python itself refuses to.

    Raises: TypeError: the owner supports item assignment, but plans may not use it.
    """
    kind = type(owner)
    if kind in ITEM_WRITERS:
        return ITEM_WRITERS[kind](owner)
    if (
        kind in WRITABLE_TYPES
        or is_plan_class(kind)
        or is_from_admitted(owner)
        or not (hasattr(kind, "__setitem__") or hasattr(kind, "__delitem__"))
    ):
        return owner
    raise TypeError(f"'{kind.__name__}' object does not support item assignment")


def read_item(owner: Any, index: object) -> tuple[Any, object, object]:
    """Return an item with its owner and index, read before the new value is computed."""
    return owner, index, owner[index]


def read_attribute(owner: Any, name: str) -> tuple[Any, str, object]:
    """Return an attribute of a plan's own object with its owner and name, read before the new value is computed."""
    return writable_owner(owner), name, getattr(owner, name)


def raise_missing(error: str, message: str, module: str) -> NoReturn:
    """Raise what Python raises for a module, or a member of one, that is not there."""
    raise (ModuleNotFoundError if error == "ModuleNotFoundError" else ImportError)(message, name=module)


def type_name(value: object) -> str:
    """Return the name of a value's type, for messages."""
    return type(value).__name__


def _error_text(error: BaseException | None) -> str:
    """Return an error's message after a colon, or "" if it has none, such as for a number too long to print."""
    try:
        text = str(error)
    except PlanTermination:
        raise
    except BaseException:
        return ""
    return f": {text}" if text else ""


def truncate_message(text: str) -> str:
    """Return a text of the plan, cut to ``MAX_MESSAGE_CHARS`` characters."""
    text = str.__str__(text)  # a plan's own kind of text has methods that the plan wrote
    return text if len(text) <= MAX_MESSAGE_CHARS else text[:MAX_MESSAGE_CHARS] + " … (cut)"


Pattern: TypeAlias = tuple[Any, ...]
"""A pattern: the name of its form, and its parts. The transformer of plans makes it."""

Captures: TypeAlias = dict[str, Any]
"""The values that a matching pattern captures, by name."""

_SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""The types whose single positional pattern matches the subject itself."""

_TEXTS = (str, bytes, bytearray)
_ABSENT = object()


def make_matcher(guarded_getattr: Callable[[Any, str], Any]) -> Callable[[Any, Pattern], Captures | None]:
    """Return the function that matches: it returns the captured values, or None if the subject does not match."""

    def read(owner: Any, name: str) -> Any:
        if type(name) is not str:
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
        if not is_readable(name) or is_reserved(name):
            raise TypeError(f"a class pattern cannot read the attribute {name!r}")
        try:
            return guarded_getattr(owner, name)
        except AttributeError:
            return _ABSENT

    def match_case(subject: Any, pattern: Pattern) -> Captures | None:
        captures: Captures = {}
        return captures if _Matcher(read, captures).matches(subject, pattern) else None

    return match_case


class _Matcher:
    """Matches one subject. What it captures is complete only if the whole pattern matches."""

    def __init__(self, read: Callable[[Any, str], Any], captures: Captures) -> None:
        self._read, self._captures = read, captures

    def matches(self, subject: Any, pattern: Pattern) -> bool:
        """Whether the subject matches."""
        matched: bool = getattr(self, f"_{pattern[0]}")(subject, *pattern[1:])
        return matched

    def _value(self, subject: Any, value: Any) -> bool:
        return bool(subject == value)

    def _singleton(self, subject: Any, value: Any) -> bool:
        return subject is value

    def _capture(self, subject: Any, name: str | None, inner: Pattern | None) -> bool:
        if inner is not None and not self.matches(subject, inner):
            return False
        if name is not None:
            self._captures[name] = subject
        return True

    def _or(self, subject: Any, *patterns: Pattern) -> bool:
        return any(self.matches(subject, p) for p in patterns)

    def _sequence(
        self, subject: Any, before: Sequence[Pattern], rest: Pattern | None, after: Sequence[Pattern]
    ) -> bool:
        if not isinstance(subject, (list, tuple, range, deque, Sequence)) or isinstance(subject, _TEXTS):
            return False
        count, least = len(subject), len(before) + len(after)
        if count < least or (rest is None and count > least):
            return False
        if not all(self.matches(subject[i], p) for i, p in enumerate(before)):
            return False
        end = count - len(after)
        if rest is not None:
            self.matches([subject[i] for i in range(len(before), end)], rest)
        return all(self.matches(subject[end + i], p) for i, p in enumerate(after))

    def _mapping(self, subject: Any, items: Sequence[tuple[Any, Pattern]], rest: str | None) -> bool:
        if not isinstance(subject, Mapping) or len(subject) < len(items):
            return False
        values, seen = list[Any](), set[Any]()
        for key, _ in items:
            if key in seen:
                raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
            seen.add(key)
            values.append(subject.get(key, _ABSENT))
            if values[-1] is _ABSENT:
                return False
        if not all(self.matches(value, pattern) for value, (_, pattern) in zip(values, items, strict=True)):
            return False
        if rest is not None:
            named = [key for key, _ in items]
            self._captures[rest] = {key: subject[key] for key in subject if key not in named}
        return True

    def _class(
        self, subject: Any, kind: Any, positional: Sequence[Pattern], named: Sequence[tuple[str, Pattern]]
    ) -> bool:
        if not is_class(kind):
            raise TypeError("called match pattern must be a class")
        if not isinstance(subject, kind):
            return False
        itself = kind in _SELF_MATCHING
        names = () if itself else _match_args(kind)
        accepted = 1 if itself else len(names)
        if len(positional) > accepted:
            patterns = f"{accepted} positional sub-pattern{'' if accepted == 1 else 's'}"
            raise TypeError(f"{kind.__name__}() accepts {patterns} ({len(positional)} given)")
        if itself and positional and not self.matches(subject, positional[0]):
            return False
        return self._attributes(subject, [*zip(names, positional, strict=False), *named])

    def _attributes(self, subject: Any, named: Sequence[tuple[str, Pattern]]) -> bool:
        for name, pattern in named:
            value = self._read(subject, name)
            if value is _ABSENT or not self.matches(value, pattern):
                return False
        return True


def _match_args(kind: type) -> tuple[Any, ...]:
    names = getattr(kind, "__match_args__", ())
    if type(names) is not tuple:
        raise TypeError(f"{kind.__name__}.__match_args__ must be a tuple (got {type(names).__name__})")
    return names
