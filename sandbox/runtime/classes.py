"""Classes that a plan defines: how they are made, and which of their attributes a plan can read and write.

A class of a plan has a mark in its own dict under a name that a plan can write nowhere. Its instances run code of the
plan in place of Python's own operations, so the runtime trusts exact types only.
"""

from __future__ import annotations

import builtins
import enum
import typing
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GenericAlias,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any, Final

from codeplan.sandbox.runtime.names import is_readable, is_reserved, is_writable
from codeplan.untrusted.texts import with_article

PLAN_MODULE: Final = "__main__"
"""The ``__module__`` of a plan's classes, as in a program of its own."""

CLASS_MARK: Final = "__plan_class__"
"""The name, in a class's dict, that marks a class of the plan."""

PLAN_FILENAME: Final = "<plan>"
"""The file name of a plan's code objects, which identifies its lines in a traceback."""

BASE_TYPES: Final[frozenset[type]] = frozenset(
    {object, str, bytes, int, float, complex, list, dict, tuple, set, frozenset}
    | {Counter, OrderedDict, defaultdict, deque, typing.Generic, typing.Protocol}
)
"""The types, besides exceptions and the runtime's own, from which a plan may derive classes."""

_WRAPPED: Final = frozenset({"__new__", "__setattr__", "__delattr__", "__getattribute__"})
"""Methods of ``object`` that a plan may call for its own objects only, and with names that it may use."""

_PYTHON_METHODS: Final = (FunctionType, MethodType)
_C_METHODS: Final = (BuiltinFunctionType, MethodWrapperType, WrapperDescriptorType, type(dict.fromkeys), type(str.join))


def is_plan_class(kind: type) -> bool:
    """Return whether a plan defined this class."""
    return CLASS_MARK in kind.__dict__


def mark_class(kind: type) -> type:
    """Mark a class that the runtime made on a plan's behalf, such as a named tuple. Returns the class."""
    setattr(kind, CLASS_MARK, True)
    kind.__module__ = PLAN_MODULE
    return kind


def is_plan_function(value: object) -> bool:
    """Return whether a value is a function that the plan defined."""
    return type(value) is FunctionType and value.__code__.co_filename == PLAN_FILENAME


class _TypeOfTypes(type):
    """Makes ``type`` as plans see it: it tells a value's type, and makes no classes."""

    def __call__(cls, *args: Any, **named: Any) -> Any:
        if named or len(args) not in (1, 3):
            return type(*args, **named)  # raises Python's own error
        if len(args) == 3:
            raise TypeError("type() takes one argument here; write a class statement")
        return visible_type(args[0])

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type)

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls

    def __repr__(cls) -> str:
        return "<class 'type'>"


class PlanType(metaclass=_TypeOfTypes):
    """The value of the name ``type`` in a plan."""

    __class_getitem__ = classmethod(GenericAlias)


PlanType.__name__ = PlanType.__qualname__ = "type"

VISIBLE_TYPES: set[type] = {*BASE_TYPES, bool, range, slice, type(None), type(NotImplemented), type(Ellipsis)}
"""The types, besides exceptions and a plan's classes, that ``type(x)`` returns. Modules of the runtime add their own."""


def visible_type(value: object) -> type:
    """Return the type of a value. Raises TypeError for values of the runtime, such as the agent."""
    kind = type(value)
    if kind in VISIBLE_TYPES or issubclass(kind, Exception) or is_plan_class(kind):
        return kind
    if issubclass(kind, type):
        return PlanType
    raise TypeError(
        f"type() is for data and for objects of the plan, not for {with_article(kind.__name__)}; "
        "use isinstance(x, …), or type(x).__name__ for its name"
    )


class PlanEnumType(enum.EnumType):
    """Makes the Enum classes of plans. An Enum that is made by a call gets a plan's names only."""

    def __call__(cls, value: Any, *args: Any, **named: Any) -> Any:
        made = super().__call__(value, *args, **named)
        if type(made) is PlanEnumType and not is_plan_class(made):
            for name in made.__members__:
                if not is_writable(name):
                    raise ValueError(f"an Enum cannot have a member {name!r}")
            type.__setattr__(made, CLASS_MARK, True)
            made.__module__ = PLAN_MODULE
        return made


def _plan_enum(base: type) -> Any:
    made: Any = PlanEnumType(base.__name__, (base,), PlanEnumType.__prepare__(base.__name__, (base,)))
    made.__module__ = "enum"
    return made


ENUM_CLASSES: Final[dict[str, Any]] = {
    kind.__name__: _plan_enum(kind) for kind in (enum.Enum, enum.IntEnum, enum.StrEnum, enum.Flag, enum.IntFlag)
}
"""The classes of ``enum`` from which plans derive their own."""


class _MetaclassName:
    """A metaclass as plans see it: a name to write after ``metaclass=``."""

    __slots__ = ("name", "real")

    def __init__(self, name: str, real: type) -> None:
        self.name, self.real = name, real

    def __repr__(self) -> str:
        return f"<class {self.name!r}>"


def _metaclass_names() -> dict[str, _MetaclassName]:
    import abc

    return {
        "ABCMeta": _MetaclassName("abc.ABCMeta", abc.ABCMeta),
        "EnumMeta": _MetaclassName("enum.EnumMeta", PlanEnumType),
    }


METACLASSES: Final = _metaclass_names()


def build_class(body: Callable[..., CellType | None], name: str, /, *bases: Any, **keywords: Any) -> Any:
    """Make a class of the plan, in place of Python's own ``__build_class__``.

    Raises: TypeError: a base or a metaclass is not one that plans may use.
    """
    for base in bases:
        if not _is_allowed_base(base):
            shown = base.__name__ if isinstance(base, type) else with_article(type(base).__name__)
            raise TypeError(f"a class cannot derive from {shown} here; derive from object, an exception or plain data")
    metaclass = keywords.pop("metaclass", None)
    if type(metaclass) is _MetaclassName:
        keywords["metaclass"] = metaclass.real
    elif metaclass is not None and metaclass is not PlanType:
        raise TypeError("metaclasses are not part of the plan language; use __init_subclass__ or a decorator")
    return builtins.__build_class__(body, name, *bases, **keywords)  # type: ignore[arg-type]


def _is_allowed_base(base: Any) -> bool:
    """Return whether a plan may derive from this. A plan's object cannot pose as a base: exact types decide."""
    origin = base.__origin__ if type(base) in _ALIAS_TYPES else base
    if not isinstance(origin, type):
        return any(base is known for known in RUNTIME_BASES)
    known = origin in BASE_TYPES or origin in RUNTIME_BASES or type(origin) is PlanEnumType
    return known or is_plan_class(origin) or issubclass(origin, Exception)


_ALIAS_TYPES: Final = frozenset(
    {type(list[int]), type(typing.List[int]), type(typing.Generic[typing.AnyStr])}  # noqa: UP006
)
"""The types of ``list[int]``, ``List[int]`` and ``Generic[T]``."""

TYPE_TEXTS: Final = frozenset({"__doc__", "__module__", "__name__", "__qualname__"})
"""Texts of a class or a function that any plan may read."""

RUNTIME_BASES: set[Any] = {typing.TypedDict}
"""Members of the plan's modules from which plans may derive, such as ``abc.ABC``. The modules add them."""


def read_own(value: Any, name: str) -> Any:
    """Read an attribute of a plan's object or class, or of ``super()``. ``name`` is readable."""
    if name in _WRAPPED:
        return _guard_method(getattr(value, name), name)
    if name == "__class__":
        return visible_type(value)
    if name == "__dict__" and isinstance(value, type):
        return {n: v for n, v in value.__dict__.items() if n != CLASS_MARK}
    found = getattr(value, name)
    if name in _CAUSES:
        return found if isinstance(found, Exception) else None
    return dict(found) if type(found) is MappingProxyType else found


_CAUSES: Final = ("__cause__", "__context__")
"""Attributes that may hold what ends a plan, which a plan must not get."""


def is_own_super(value: Any) -> bool:
    """Return whether a ``super`` object is that of a plan's object or class."""
    owner = _SUPER_SELF(value)
    return is_plan_class(owner if isinstance(owner, type) else type(owner))


_SUPER_SELF: Final = typing.cast(Callable[[Any], Any], super.__dict__["__self__"].__get__)


def _guard_method(method: Any, name: str) -> Any:
    """Return a method that the plan wrote as it is, and one of Python's with checks of its arguments."""
    if type(method) in _PYTHON_METHODS and is_plan_function(getattr(method, "__func__", method)):
        return method
    bound = not isinstance(method, WrapperDescriptorType) and name != "__new__"

    def checked(*args: Any, **named: Any) -> Any:
        if name == "__new__":
            _require_own_class(args[0] if args else None)
        else:
            owner = method.__self__ if bound else args[0] if args else None
            _require_own(owner)
            _require_name(args[0 if bound else 1 :][:1], name)
        return method(*args, **named)

    checked.__name__ = checked.__qualname__ = name
    checked.__module__ = "builtins"
    return checked


def _require_own_class(kind: Any) -> None:
    if not (isinstance(kind, type) and is_plan_class(kind)) and kind is not object:
        raise TypeError("__new__ makes objects of the plan's own classes only")


def _require_own(owner: Any) -> None:
    if not (is_plan_class(type(owner)) or (isinstance(owner, type) and is_plan_class(owner))):
        raise TypeError("only attributes of the plan's own objects can be reached in this way")


def _require_name(names: tuple[Any, ...], method: str) -> None:
    allowed = is_readable if method == "__getattribute__" else is_writable
    for name in names:
        if type(name) is not str or not allowed(name):
            raise AttributeError(f"the attribute {name if type(name) is str else '?'} cannot be used in this way")


def writable_owner(owner: Any) -> Any:
    """Return ``owner`` if a plan may write its attributes: an object, a class or a function of the plan.

    Raises: AttributeError: it may not, in Python's words.
    """
    kind = type(owner)
    if is_plan_class(kind) or (isinstance(owner, type) and is_plan_class(owner)) or is_plan_function(owner):
        return owner
    raise AttributeError(f"attributes of {with_article(kind.__name__)} cannot be written")


def read_of_type(kind: type, name: str) -> Any:
    """Read a method such as ``dict.__setitem__`` or ``Exception.__init__`` of a type that plans may derive from.

    Raises: AttributeError: the type has no such method, or plans may not read it.
    """
    if name in TYPE_TEXTS:
        return getattr(kind, name)
    if is_reserved(name) and any(name in k.__dict__ for k in kind.__mro__):
        found = getattr(kind, name)
        if name in _WRAPPED:
            return _guard_method(found, name)
        if type(found) in _C_METHODS or type(found) is FunctionType:
            return found
    raise AttributeError(f"type object '{kind.__name__}' has no attribute '{name}'")
