"""The modules that serve classes: ``abc``, ``contextlib``, ``dataclasses``, ``enum``, ``types`` and ``typing``.

Their members are Python's own where those touch nothing but a plan's classes, and guarded versions otherwise: a plan
may change its own classes, and never those of the runtime.
"""

from __future__ import annotations

import abc
import ast
import collections.abc
import contextlib
import dataclasses
import functools
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final, TypeAlias

from codeplan.sandbox.runtime.attributes import ALLOWED_ATTRIBUTES, ModuleFacade
from codeplan.sandbox.runtime.classes import (
    ENUM_CLASSES,
    METACLASSES,
    PLAN_MODULE,
    RUNTIME_BASES,
    VISIBLE_TYPES,
    WRITERS,
    PlanType,
    is_class,
    is_own_class,
    is_plan_class,
    is_plan_function,
    mark_class,
    own_names,
    require_definable,
    writable_owner,
)
from codeplan.sandbox.runtime.guards import GETS_END, AsyncExitFunction, ExitFunction, set_name, show_as
from codeplan.sandbox.runtime.library_mends import replace_fields, require_dataclass
from codeplan.sandbox.runtime.module_names import split_names
from codeplan.sandbox.runtime.names import DEFINABLE_DUNDERS, is_reserved, is_writable
from codeplan.untrusted.texts import with_article

_ABSTRACT_BASES = split_names(
    "AsyncGenerator AsyncIterable AsyncIterator Awaitable Callable Collection Container Generator Hashable ItemsView "
    "Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence MutableSet Reversible Sequence Set "
    "Sized ValuesView"
)
"""Classes of ``collections.abc`` from which plans may derive: what they add calls the methods that the plan wrote."""

RUNTIME_BASES.update({abc.ABC, contextlib.AbstractAsyncContextManager, contextlib.AbstractContextManager})
RUNTIME_BASES.update(getattr(collections.abc, name) for name in _ABSTRACT_BASES)
_ON_VIEWS = split_names("isdisjoint")
ALLOWED_ATTRIBUTES[dataclasses._DataclassParams] = split_names(  # type: ignore[attr-defined]
    "eq frozen init kw_only match_args order repr slots unsafe_hash weakref_slot"
)
ALLOWED_ATTRIBUTES[typing.ParamSpec] = split_names("__name__ args kwargs")
ALLOWED_ATTRIBUTES[typing.TypeVar] = split_names("__name__")
ALLOWED_ATTRIBUTES[collections.abc.ItemsView] = ALLOWED_ATTRIBUTES[collections.abc.KeysView] = _ON_VIEWS
VISIBLE_TYPES |= {types.GenericAlias, types.UnionType}
VISIBLE_TYPES |= {collections.abc.ItemsView, collections.abc.KeysView, collections.abc.ValuesView}


class _Namespace(types.SimpleNamespace):
    """An object with attributes that a plan may write."""

    def __getattr__(self, name: str) -> Any:
        kind = "types.SimpleNamespace" if type(self) is SimpleNamespace else type(self).__name__
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        text = super().__repr__()
        return "namespace" + text[len("SimpleNamespace") :] if type(self) is SimpleNamespace else text


_Namespace.__name__ = "SimpleNamespace"
SimpleNamespace: Any = mark_class(_Namespace, shared=True)


class _NamedTupleMaker:
    """``typing.NamedTuple`` as plans see it: a base, or a function that makes a class of the plan."""

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        entries: Any = typing.NamedTuple
        made: tuple[Any, ...] = entries.__mro_entries__((typing.NamedTuple,))
        return made

    def __call__(self, typename: str, fields: Iterable[Any] = (), /) -> type:
        make: Any = typing.NamedTuple
        return mark_class(make(typename, list(fields)))

    def __repr__(self) -> str:
        return repr(typing.NamedTuple)


NAMED_TUPLE = _NamedTupleMaker()
RUNTIME_BASES.add(NAMED_TUPLE)


Guard: TypeAlias = Callable[[Any], Any]
"""Makes, of a context manager, one that hides no end of the plan."""


def class_members(guard: Guard, find_name: Callable[[str], Any]) -> dict[str, dict[str, object]]:
    """Return what plans get in place of a module's own members, by module.

    ``find_name`` looks a name of the plan up.
    """
    decorator = _context_decorator(guard)
    return {
        "abc": {**METACLASSES, "abstractmethod": set_name("abstractmethod", _abstractmethod)},
        "contextlib": {
            **_context_makers(guard, decorator),
            "AsyncExitStack": _async_exit_stack(guard),
            "ContextDecorator": decorator,
            "ExitStack": _exit_stack(guard),
        },
        "dataclasses": {
            "asdict": set_name("asdict", _asdict),
            "replace": set_name("replace", replace_fields),
            "astuple": set_name("astuple", _astuple),
            "dataclass": set_name("dataclass", _dataclass),
            "make_dataclass": set_name("make_dataclass", _make_dataclass),
        },
        "enum": {**ENUM_CLASSES, **METACLASSES, "EnumType": METACLASSES["EnumMeta"]},
        "types": {"SimpleNamespace": SimpleNamespace},
        "typing": {
            "NamedTuple": NAMED_TUPLE,
            "get_origin": set_name("get_origin", _get_origin),
            "get_type_hints": _type_hints_reader(find_name),
            "overload": set_name("overload", _overload),
            "runtime_checkable": set_name("runtime_checkable", _runtime_checkable),
            **{name: _marking(name, getattr(typing, name)) for name in ("final", "override") if hasattr(typing, name)},
        },
    }


def _context_decorator(guard: Guard) -> type:
    class ContextDecorator(contextlib.ContextDecorator):
        """A context manager that is also a decorator, for plans to derive from."""

        def __call__(self, func: Any) -> Any:
            @functools.wraps(func)
            def inner(*args: Any, **named: Any) -> Any:
                with guard(self._recreate_cm()):
                    return func(*args, **named)

            return inner

    show_as("contextlib", ContextDecorator)
    RUNTIME_BASES.add(ContextDecorator)
    return ContextDecorator


def _context_makers(guard: Guard, decorator: Any) -> dict[str, object]:
    """Return ``contextmanager`` and ``asynccontextmanager``, whose managers guard what they decorate.

    ``decorator`` is ``ContextDecorator`` as plans see it: its ``__call__`` stands before that of Python's own.
    """

    class _GeneratorContextManager(contextlib._GeneratorContextManager[Any], decorator):  # type: ignore[misc]
        """Helper for @contextmanager decorator."""

        def __init__(self, func: Any, args: Any, kwds: Any) -> None:
            super().__init__(func, args, kwds)
            if type(self.gen) is not types.GeneratorType:
                raise TypeError(f"'{type(self.gen).__name__}' object is not an iterator")

    class _AsyncGeneratorContextManager(contextlib._AsyncGeneratorContextManager[Any]):
        """Helper for @asynccontextmanager decorator."""

        def __init__(self, func: Any, args: Any, kwds: Any) -> None:
            super().__init__(func, args, kwds)
            if type(self.gen) is not types.AsyncGeneratorType:
                raise TypeError(f"'{type(self.gen).__name__}' object is not an async iterator")

        def __call__(self, func: Any) -> Any:
            @functools.wraps(func)
            async def inner(*args: Any, **named: Any) -> Any:
                async with guard(self._recreate_cm()):
                    return await func(*args, **named)

            return inner

    def contextmanager(func: Any) -> Any:
        @functools.wraps(func)
        def helper(*args: Any, **kwds: Any) -> Any:
            return _GeneratorContextManager(func, args, kwds)

        return helper

    def asynccontextmanager(func: Any) -> Any:
        @functools.wraps(func)
        def helper(*args: Any, **kwds: Any) -> Any:
            return _AsyncGeneratorContextManager(func, args, kwds)

        return helper

    show_as("contextlib", _GeneratorContextManager, _AsyncGeneratorContextManager)
    GETS_END.update((_GeneratorContextManager, _AsyncGeneratorContextManager))
    return {make.__name__: set_name(make.__name__, make) for make in (contextmanager, asynccontextmanager)}


def _exit_stack(guard: Guard) -> type:
    class ExitStack(contextlib.ExitStack):
        """A stack of guarded contexts."""

        def enter_context(self, cm: Any) -> Any:
            return super().enter_context(guard(cm))

        def callback(self, callback: Any, /, *args: Any, **kwds: Any) -> Any:
            """Push a function that is called with these arguments."""
            super().push(guard(ExitFunction(_ignoring_error(callback, args, kwds))))
            return callback

        def push(self, exit: Any) -> Any:
            """Push a context, or a function that is called like ``__exit__``."""
            super().push(guard(exit if hasattr(type(exit), "__exit__") else ExitFunction(exit)))
            return exit

    show_as("contextlib", ExitStack)
    ALLOWED_ATTRIBUTES[ExitStack] = ALLOWED_ATTRIBUTES[contextlib.ExitStack]
    return ExitStack


def _ignoring_error(
    callback: Callable[..., object], args: tuple[Any, ...], named: dict[str, Any]
) -> Callable[..., None]:
    """Return a function like ``__exit__`` that only makes this call."""

    def leave(*error: object) -> None:
        callback(*args, **named)

    return leave


def _async_exit_stack(guard: Guard) -> type:
    class AsyncExitStack(contextlib.AsyncExitStack):
        """A stack of guarded contexts, of both kinds."""

        def enter_context(self, cm: Any) -> Any:
            return super().enter_context(guard(cm))

        async def enter_async_context(self, cm: Any) -> Any:
            return await super().enter_async_context(guard(cm))

        def callback(self, callback: Any, /, *args: Any, **kwds: Any) -> Any:
            """Push a function that is called with these arguments."""
            super().push(guard(ExitFunction(_ignoring_error(callback, args, kwds))))
            return callback

        def push_async_callback(self, callback: Any, /, *args: Any, **kwds: Any) -> Any:
            """Push a coroutine function that is called with these arguments and awaited."""

            async def leave(*error: object) -> None:
                await callback(*args, **kwds)

            super().push_async_exit(guard(AsyncExitFunction(leave)))
            return callback

        def push(self, exit: Any) -> Any:
            """Push a context, or a function that is called like ``__exit__``."""
            super().push(guard(exit if hasattr(type(exit), "__exit__") else ExitFunction(exit)))
            return exit

        def push_async_exit(self, exit: Any) -> Any:
            """Push an asynchronous context, or a function that is awaited like ``__aexit__``."""
            super().push_async_exit(guard(exit if hasattr(type(exit), "__aexit__") else AsyncExitFunction(exit)))
            return exit

    show_as("contextlib", AsyncExitStack)
    ALLOWED_ATTRIBUTES[AsyncExitStack] = split_names(
        "aclose callback enter_async_context enter_context pop_all push push_async_callback push_async_exit"
    )
    return AsyncExitStack


def _get_origin(tp: Any, /) -> Any:
    """``typing.get_origin``; that of ``type[X]`` is ``type`` as plans see it."""
    origin = typing.get_origin(tp)
    return PlanType if origin is type else origin


def _type_hints_reader(find_name: Callable[[str], Any]) -> Callable[..., dict[str, Any]]:
    def get_type_hints(
        obj: Any, globalns: Any = None, localns: Any = None, include_extras: bool = False
    ) -> dict[str, Any]:
        """``typing.get_type_hints`` of a function or a class of the plan."""
        names = {**(globalns if type(globalns) is dict else {}), **(localns if type(localns) is dict else {})}

        def find(name: str) -> Any:
            return names[name] if name in names else find_name(name)

        hints = {name: _hint(value, find) for name, value in _annotations_of(obj).items()}
        if include_extras:
            return hints
        strip: Callable[[Any], Any] = typing._strip_annotations  # type: ignore[attr-defined]
        return {name: strip(hint) for name, hint in hints.items()}

    return set_name("get_type_hints", get_type_hints)


def _annotations_of(obj: Any) -> dict[str, Any]:
    function = obj.__func__ if type(obj) is types.MethodType else obj
    if is_plan_function(function):
        return function.__annotations__
    if not is_own_class(obj):
        raise TypeError(f"get_type_hints is for functions and classes of the plan, not for {_shown_kind(obj)}")
    hints: dict[str, Any] = {}
    for kind in reversed(obj.__mro__):
        hints |= inspect.get_annotations(kind) if is_plan_class(kind) else {}
    return hints


_MAX_ANNOTATION: typing.Final = 1_000
"""Characters of an annotation that is a text."""


def _hint(value: Any, find: Callable[[str], Any]) -> Any:
    """Return what an annotation means. Raises: NameError, SyntaxError: a text means nothing."""
    if value is None:
        return type(None)
    if type(value) is not str:
        return value
    if len(value) > _MAX_ANNOTATION:
        raise SyntaxError("this annotation is too long")
    meant = _meaning(ast.parse(value.strip(), mode="eval").body, find)
    return type(None) if meant is None else meant


def _meaning(node: ast.AST, find: Callable[[str], Any]) -> Any:
    """Return the type that an annotation's tree means: names, subscripts and unions of them; nothing is called."""
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(id=name):
            return find(name)
        case ast.Attribute(value=ast.Name(id=module), attr=name) if type(found := find(module)) is ModuleFacade:
            if name not in found.members:
                raise AttributeError(f"module '{module}' has no attribute '{name}'")
            return found.members[name]
        case ast.Subscript(value=of, slice=index):
            return _meaning(of, find)[_meaning(index, find)]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _meaning(left, find) | _meaning(right, find)
        case ast.Tuple(elts=parts):
            return tuple(_meaning(part, find) for part in parts)
        case ast.List(elts=parts):
            return [_meaning(part, find) for part in parts]
    raise SyntaxError("an annotation that is a text is made of names, brackets and |")


def require_own_class(kind: Any, function: str) -> Any:
    """Return a class of the plan. Raises TypeError for any other value; ``function`` is for the message."""
    if not is_own_class(kind):
        raise TypeError(f"{function} is for classes of the plan only, not {_shown_kind(kind)}")
    return kind


def _shown_kind(value: Any) -> str:
    return value.__name__ if is_class(value) else with_article(type(value).__name__)


def _dataclass(cls: Any = None, /, **options: Any) -> Any:
    """``dataclasses.dataclass`` for a class of the plan."""

    def wrap(cls: Any) -> Any:
        with _markers_known(require_own_class(cls, "dataclass")):
            return dataclasses.dataclass(cls, **options)

    wrap.__qualname__ = "dataclass.<locals>.wrap"
    return wrap if cls is None else wrap(cls)


_MARKER: typing.Final = re.compile(r"\s*+(?:\w++\s*+\.\s*+)?(ClassVar|InitVar|KW_ONLY)\b")
_MARKERS: typing.Final = {"ClassVar": typing.ClassVar, "InitVar": dataclasses.InitVar, "KW_ONLY": dataclasses.KW_ONLY}
"""What makes of a field something else. Where annotations are texts, Python looks for it in the class's module."""


@contextlib.contextmanager
def _markers_known(kind: Any) -> Iterator[None]:
    """Put the markers themselves in place of the annotations that name them in texts, meanwhile."""
    annotations = kind.__dict__.get("__annotations__")  # noqa: RUF063  # not a copy
    texts = annotations.items() if type(annotations) is dict else ()
    marked = {n: (text, found[1]) for n, text in texts if type(text) is str and (found := _MARKER.match(text))}
    for name, (_, marker) in marked.items():
        annotations[name] = _MARKERS[marker]
    try:
        yield
    finally:
        for name, (text, _) in marked.items():
            annotations[name] = text


def _make_dataclass(
    cls_name: str,
    fields: Iterable[Any],
    *,
    bases: tuple[Any, ...] = (),
    namespace: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """``dataclasses.make_dataclass`` over classes of the plan, with names that a class statement could define."""
    listed = [field if type(field) is str else tuple(field) for field in fields]
    own, bases = dict(namespace or {}), tuple(bases)
    for base in bases:
        require_own_class(base, "make_dataclass")
    for field in listed:
        require_definable(field if type(field) is str else field[0] if field else None)
    for name in own:
        if type(name) is not str or (is_reserved(name) and name not in DEFINABLE_DUNDERS) or not is_writable(name):
            raise TypeError(f"a class of a plan cannot define {name!r}" if type(name) is str else "names must be texts")
    return dataclasses.make_dataclass(cls_name, listed, bases=bases, namespace=own_names(own), **options | _MODULE)


_MODULE: Final[dict[str, Any]] = {"module": PLAN_MODULE} if sys.version_info >= (3, 12) else {}
"""Python 3.12 and later would name the module that calls ``make_dataclass``, which is ours."""


Combine: TypeAlias = Callable[[list[tuple[str, Any]]], Any]
"""Makes one value of the fields of a dataclass, given with their names."""


def _asdict(obj: Any, *, dict_factory: Callable[..., Any] = dict) -> Any:
    """``dataclasses.asdict``; objects of the plan that are no dataclasses are not copied."""
    return _convert(require_dataclass("asdict", obj), lambda fields: dict_factory(fields))


def _astuple(obj: Any, *, tuple_factory: Callable[..., Any] = tuple) -> Any:
    """``dataclasses.astuple``, as ``asdict``."""
    return _convert(require_dataclass("astuple", obj), lambda fields: tuple_factory([v for _, v in fields]))


def _convert(value: Any, combine: Combine) -> Any:
    """Return a value with its dataclasses combined, also inside lists, tuples, sets and dicts."""
    kind = type(value)
    if is_plan_class(kind) and dataclasses.is_dataclass(kind):
        return combine([(f.name, _convert(getattr(value, f.name), combine)) for f in dataclasses.fields(kind)])
    if kind in (list, tuple, set, frozenset):
        return kind(_convert(v, combine) for v in value)
    if is_plan_class(kind) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*[_convert(v, combine) for v in value])
    if kind is dict:
        return {_convert(k, combine): _convert(v, combine) for k, v in value.items()}
    return value


_MAX_WRAPPERS: Final = 100
"""How many wrappers a function of the plan may have, such as those of ``contextmanager``, to be marked at the top."""

_NOTHING: Final = object()
_REFUSING: Final = (BuiltinFunctionType, property)
"""Types whose objects Python itself does not mark, besides those that ``writable_owner`` knows."""


def _abstractmethod(funcobj: Any) -> Any:
    """``abc.abstractmethod``, which marks the plan's own alone: Python's would write to any function."""
    return abc.abstractmethod(funcobj) if _is_markable(funcobj) else funcobj


def _marking(name: str, mark: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return set_name(name, lambda f, /: mark(f) if _is_markable(f) else f)


def _overload(func: Any) -> Any:
    """``typing.overload``; nobody keeps the function."""
    dummy: Any = typing._overload_dummy  # type: ignore[attr-defined]
    return dummy


def _runtime_checkable(cls: Any) -> Any:
    """``typing.runtime_checkable``. Protocols of the library stay as they are."""
    if is_class(cls) and not is_own_class(cls) and getattr(cls, "_is_protocol", False):
        return cls
    return typing.runtime_checkable(cls)


def _is_markable(value: Any) -> bool:
    """Return whether a value is the plan's, or made for a function of the plan, or Python itself refuses to mark it."""
    for _ in range(_MAX_WRAPPERS):
        if _is_own_or_refuses(value):
            return True
        if type(value) in (classmethod, staticmethod):
            value = value.__func__
        elif type(value) in (FunctionType, functools._lru_cache_wrapper):
            value = value.__dict__.get("__wrapped__", _NOTHING)
        else:
            break
    return False


def _is_own_or_refuses(value: Any) -> bool:
    if type(value) in WRITERS or value is _NOTHING:
        return False
    try:
        return type(value) in _REFUSING or writable_owner(value) is value
    except AttributeError:
        return False
