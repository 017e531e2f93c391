"""``inspect``, ``weakref`` and ``sched`` for a plan's own functions and objects.

``inspect`` tells names and kinds, never code or frames. Nothing of ``weakref`` runs when an object goes: that would be
the plan's code at a time of its choice, such as after its end.
"""

from __future__ import annotations

import inspect
import sched
import weakref
from collections.abc import Callable, Iterable
from types import AsyncGeneratorType, BuiltinFunctionType, CoroutineType, FunctionType, GeneratorType, MethodType
from typing import Any, Final

from codeplan.sandbox.runtime.attributes import ALLOWED_ATTRIBUTES, ALLOWED_TYPE_ATTRIBUTES
from codeplan.sandbox.runtime.classes import VISIBLE_TYPES, is_class, is_own_class, is_plan_function
from codeplan.sandbox.runtime.clocks import PlanClock
from codeplan.sandbox.runtime.guards import set_name
from codeplan.sandbox.runtime.module_names import split_names
from codeplan.untrusted.texts import with_article

_MAX_WRAPPERS: Final = 100
_KINDS: Final = split_names("KEYWORD_ONLY POSITIONAL_ONLY POSITIONAL_OR_KEYWORD VAR_KEYWORD VAR_POSITIONAL")


def _function_of(value: Any) -> Any:
    """The plan's function behind a function or a method, below its decorators. Raises: TypeError: there is none."""
    function = value.__func__ if type(value) is MethodType else value
    for _ in range(_MAX_WRAPPERS):
        if not is_plan_function(function):
            break
        if "__wrapped__" not in function.__dict__:
            return function
        function = function.__dict__["__wrapped__"]
    raise TypeError(f"signature is for functions and classes of the plan, not for {with_article(type(value).__name__)}")


def _signature(callable: Any) -> inspect.Signature:
    """``inspect.signature``, of the plan's functions and classes."""
    skips = type(callable) is MethodType
    if is_own_class(callable):
        skips, callable = (
            True,
            next((k.__dict__["__init__"] for k in callable.__mro__ if "__init__" in k.__dict__), None),
        )
        if type(callable) is not FunctionType:  # that of object, or of a library's class
            return inspect.Signature()
        if not is_plan_function(callable):  # of a dataclass
            return _signature_of(callable, skips=True)
    return _signature_of(_function_of(callable), skips=skips)


def _signature_of(function: FunctionType, *, skips: bool) -> inspect.Signature:
    code, defaults = function.__code__, list(function.__defaults__ or ())
    names = code.co_varnames
    count, keywords = code.co_argcount, code.co_kwonlyargcount
    kind: Any = inspect.Parameter
    annotations = function.__annotations__

    def parameter(name: str, where: Any, default: Any = kind.empty) -> inspect.Parameter:
        return inspect.Parameter(name, where, default=default, annotation=annotations.get(name, kind.empty))

    made: list[inspect.Parameter] = []
    for i, name in enumerate(names[:count]):
        given = defaults[i - count + len(defaults)] if i >= count - len(defaults) else kind.empty
        where = kind.POSITIONAL_ONLY if i < code.co_posonlyargcount else kind.POSITIONAL_OR_KEYWORD
        made.append(parameter(name, where, given))
    rest = count + keywords
    if code.co_flags & inspect.CO_VARARGS:
        made.append(parameter(names[rest], kind.VAR_POSITIONAL))
        rest += 1
    of_keywords = function.__kwdefaults__ or {}
    made += [parameter(n, kind.KEYWORD_ONLY, of_keywords.get(n, kind.empty)) for n in names[count:][:keywords]]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        made.append(parameter(names[rest], kind.VAR_KEYWORD))
    returned = annotations.get("return", inspect.Signature.empty)
    return inspect.Signature(made[1:] if skips else made, return_annotation=returned)


def _has_flag(flag: int) -> Callable[[Any], bool]:
    def has(obj: Any) -> bool:
        function = obj.__func__ if type(obj) is MethodType else obj
        return type(function) is FunctionType and is_plan_function(function) and bool(function.__code__.co_flags & flag)

    return has


is_coroutine_function = _has_flag(inspect.CO_COROUTINE)
"""Whether a value is an ``async def`` function of the plan, or a method of one."""


def _is_of(*kinds: type) -> Callable[[Any], bool]:
    return lambda obj: type(obj) in kinds


def _doc(read: Callable[..., Any]) -> Callable[[Any], str | None]:
    def getdoc(object: Any) -> str | None:
        text = read(object, "__doc__")
        return inspect.cleandoc(text) if type(text) is str else None

    return getdoc


def _members(read: Callable[..., Any], names_of: Callable[[Any], Iterable[str]]) -> Callable[..., Any]:
    def getmembers(object: Any, predicate: Any = None) -> list[tuple[str, Any]]:
        found = []
        for name in sorted(names_of(object)):
            try:
                value = read(object, name)
            except AttributeError:
                continue
            if predicate is None or predicate(value):
                found.append((name, value))
        return found

    return getmembers


def inspect_members(read: Callable[..., Any], names_of: Callable[[Any], Iterable[str]]) -> dict[str, object]:
    """The members of ``inspect``. ``read`` is the guard of attributes, ``names_of`` tells which a plan may read."""
    functions: dict[str, Callable[..., Any]] = {
        "cleandoc": lambda doc: inspect.cleandoc(str.__str__(doc)),
        "getdoc": _doc(read),
        "getmembers": _members(read, names_of),
        "isasyncgen": _is_of(AsyncGeneratorType),
        "isawaitable": lambda obj: hasattr(type(obj), "__await__"),
        "isbuiltin": _is_of(BuiltinFunctionType),
        "isclass": is_class,
        "iscoroutine": _is_of(CoroutineType),
        "iscoroutinefunction": is_coroutine_function,
        "isasyncgenfunction": _has_flag(inspect.CO_ASYNC_GENERATOR),
        "isfunction": lambda obj: type(obj) is FunctionType and is_plan_function(obj),
        "isgenerator": _is_of(GeneratorType),
        "isgeneratorfunction": _has_flag(inspect.CO_GENERATOR),
        "ismethod": _is_of(MethodType),
        "isroutine": _is_of(FunctionType, MethodType, BuiltinFunctionType),
        "signature": _signature,
    }
    named = {name: set_name(name, _with_one(function)) for name, function in functions.items()}
    return {**named, "Parameter": inspect.Parameter}


def _with_one(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **named: function(*args, **named)


ALLOWED_ATTRIBUTES[inspect.Signature] = split_names("bind bind_partial empty parameters return_annotation")
ALLOWED_ATTRIBUTES[inspect.Parameter] = split_names("annotation default empty kind name") | _KINDS
ALLOWED_ATTRIBUTES[inspect.BoundArguments] = split_names("apply_defaults args arguments kwargs")
ALLOWED_ATTRIBUTES[type(inspect.Parameter.VAR_KEYWORD)] = split_names("description name value")
ALLOWED_TYPE_ATTRIBUTES[inspect.Parameter] = _KINDS | {"empty"}


def _reference(obj: Any, callback: Any = None, /) -> Any:
    """``weakref.ref``. Raises: TypeError: there is a callback."""
    if callback is not None:
        raise TypeError("weakref.ref takes no callback here: nothing of a plan runs when an object goes")
    return weakref.ref(obj)


_SET: Final = split_names(
    "add clear copy difference difference_update discard intersection intersection_update isdisjoint issubset "
    "issuperset pop remove symmetric_difference symmetric_difference_update union update"
)
_MAPPING: Final = split_names("clear copy get items keys pop popitem setdefault update values")
ALLOWED_ATTRIBUTES[weakref.WeakSet] = _SET
ALLOWED_ATTRIBUTES[weakref.WeakKeyDictionary] = ALLOWED_ATTRIBUTES[weakref.WeakValueDictionary] = _MAPPING
VISIBLE_TYPES |= {weakref.WeakSet, weakref.WeakKeyDictionary, weakref.WeakValueDictionary}


def weakref_members() -> dict[str, object]:
    """The members of ``weakref`` that are not Python's own."""
    return {"ref": set_name("ref", _reference)}


def sched_members(clock: PlanClock) -> dict[str, object]:
    """The members of ``sched``, over the plan's clock."""

    def now() -> float:
        return clock.elapsed_ns() / 1e9

    def make(timefunc: Any = now, delayfunc: Any = clock.sleep) -> sched.scheduler:
        return sched.scheduler(timefunc, delayfunc)

    return {"scheduler": set_name("scheduler", make)}


ALLOWED_ATTRIBUTES[sched.scheduler] = split_names("cancel empty enter enterabs queue run")
ALLOWED_ATTRIBUTES[sched.Event] = split_names(
    "_asdict _fields action argument count index kwargs priority sequence time"
)
