"""Classes that a plan defines: how they are made, and which of their attributes a plan can read and write.

A class of a plan has a mark in its own dict under a name that a plan can write nowhere. Its instances run code of the
plan in place of Python's own operations, so the runtime trusts exact types only.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import reprlib
import sys
import typing
from abc import ABCMeta
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from functools import cache, partial
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GeneratorType,
    GenericAlias,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
    new_class,
)
from typing import Any, Final, NoReturn, TypeAlias
from unicodedata import normalize

from codeplan.sandbox.runtime.arrays import Array
from codeplan.sandbox.runtime.names import (
    CLASS_BUILTINS,
    DEFINABLE_DUNDERS,
    PLAIN_BUILTINS,
    READABLE_DUNDERS,
    is_readable,
    is_reserved,
    is_writable,
)
from codeplan.untrusted.texts import with_article

PLAN_MODULE: Final = "__main__"
"""The ``__module__`` of a plan's classes, as in a program of its own."""

CLASS_MARK: Final = "__plan_class__"
"""The name, in a class's dict, that marks a class of the plan."""

IMMUTABLE_TYPE: Final = 1 << 8
"""The flag of types whose attributes Python lets nobody write: those that are written in C."""

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


def is_class(value: object) -> bool:
    """Return whether a value is a class. ``isinstance`` would ask the value itself, by code of the plan."""
    return issubclass(type(value), type)


def is_plan_class(kind: type) -> bool:
    """Return whether a plan defined this class, or the runtime for objects that belong to plans."""
    return CLASS_MARK in kind.__dict__


def is_own_class(value: Any) -> bool:
    """Return whether a value is a class that a plan defined, and may therefore change."""
    return is_class(value) and value.__dict__.get(CLASS_MARK) is True


def mark_class(kind: type, *, shared: bool = False) -> type:
    """Mark a class that the runtime made on a plan's behalf, such as a named tuple. Returns the class.

    A ``shared`` class serves all plans: its objects are a plan's own, the class is not.
    """
    setattr(kind, CLASS_MARK, not shared)
    kind.__module__ = PLAN_MODULE
    if shared:
        kind.__qualname__ = kind.__name__
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
            return _make_class(*args)
        return visible_type(args[0])

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type) or type(value) is ShownType

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls

    def __repr__(cls) -> str:
        return "<class 'type'>"


class PlanType(metaclass=_TypeOfTypes):
    """The value of the name ``type`` in a plan."""

    __class_getitem__: Any = classmethod(GenericAlias)


PlanType.__name__ = PlanType.__qualname__ = "type"
PlanType.__module__ = "builtins"

VISIBLE_TYPES: set[type] = {
    *BASE_TYPES,
    bool,
    range,
    slice,
    type(None),
    type(NotImplemented),
    type(Ellipsis),
    GeneratorType,
    SystemExit,
    KeyboardInterrupt,
    GeneratorExit,
}
"""The types, besides exceptions and a plan's classes, that ``type(x)`` returns. Modules add their own."""


MEMBER_TYPES: set[type] = {
    kind for name in PLAIN_BUILTINS | CLASS_BUILTINS if is_class(kind := getattr(builtins, name))
}
"""Types that a plan has by name, such as ``map`` or a module's member, and which ``type(x)`` returns too."""

REPLACED_TYPES: set[type] = set()
"""Python's types in whose place a module's member is a function, to which no result of ``type(x)`` could be equal."""


class ShownType:
    """The type of an object of the runtime or the library as plans see it: to show, to compare and for ``isinstance``.

    It makes no objects, and leads to nothing of the real type but its names.
    """

    __slots__ = ("_kind",)

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def __call__(self, *args: object, **named: object) -> NoReturn:
        raise TypeError(f"cannot create {self.full_name!r} instances")

    def __instancecheck__(self, value: object) -> bool:
        return self._kind in type(value).__mro__

    def __subclasscheck__(self, kind: Any) -> bool:
        return kind is self or (is_class(kind) and self._kind in kind.__mro__)

    def __repr__(self) -> str:
        return f"<class {self.full_name!r}>"

    @property
    def full_name(self) -> str:
        """The name, with its module in front except for that of builtins and of the runtime."""
        module = self.read("__module__")
        return self._kind.__name__ if module == "builtins" else f"{module}.{self._kind.__qualname__}"

    def read(self, name: str) -> str | None:
        """Read the name of the type or of its module; None leaves ``__class__`` to others. Raises: AttributeError."""
        if name == "__module__":
            return "builtins" if self._kind.__module__.startswith("codeplan.") else self._kind.__module__
        if name in ("__name__", "__qualname__"):
            return str(getattr(self._kind, name))
        if name == "__class__":
            return None
        raise AttributeError(f"type object '{self._kind.__name__}' has no attribute '{name}'")


ShownType.__name__ = "type"  # the name in Python's own error messages
_shown_type: Callable[[Any], ShownType] = cache(ShownType)


def visible_type(value: object) -> Any:
    """Return the type of a value, or what a plan may see of it. Raises TypeError for values of other packages."""
    kind = type(value)
    if kind in VISIBLE_TYPES or kind in MEMBER_TYPES or issubclass(kind, Exception) or is_plan_class(kind):
        return kind
    if issubclass(kind, type) or kind is ShownType:
        return PlanType
    if kind not in REPLACED_TYPES and kind.__module__.partition(".")[0] in _KNOWN_MODULES:
        return _shown_type(kind)
    raise TypeError(
        f"type() is for data and for objects of the plan, not for {with_article(kind.__name__)}; "
        "use isinstance(x, …), or type(x).__name__ for its name"
    )


_KNOWN_MODULES: Final = sys.stdlib_module_names | {"codeplan"}


def own_names(names: Any) -> dict[str, Any]:
    """Return the names of a class that a call makes, with the mark: before the class is there for any code to see."""
    return {**names, "__module__": PLAN_MODULE, CLASS_MARK: True}


class PlanEnumType(enum.EnumType):
    """Makes the Enum classes of plans. An Enum that is made by a call gets a plan's names only."""

    def __new__(metacls, cls: str, bases: tuple[type, ...], classdict: Any, **named: Any) -> Any:
        if any(type(base) is PlanEnumType for base in bases):  # so that it is a plan's, whatever it ignores
            ignored = [name for name in classdict.get("_ignore_", ()) if type(name) is str and not is_reserved(name)]
            dict.update(classdict, own_names({"_ignore_": ignored}))
        return super().__new__(metacls, cls, bases, classdict, **named)

    def __call__(cls, *args: Any, **named: Any) -> Any:
        if named.get("type") is not None and not _is_allowed_base(named["type"]):
            raise TypeError("an Enum cannot mix in this type")
        if cls.__members__ or not (len(args) > 1 or "names" in named):
            return super().__call__(*args, **named)
        if len(args) > 1:
            args = (args[0], _checked_members(args[1]), *args[2:])
        else:
            named["names"] = _checked_members(named["names"])
        return super().__call__(*args, **named)


PlanEnumType.__name__ = PlanEnumType.__qualname__ = "EnumType"


def _checked_members(names: Any) -> list[Any]:
    """Return the names of an Enum's members, with their values if there are some.

    Raises: ValueError: a name is not one that a class of a plan may define.
    """
    if type(names) is str:
        members: list[Any] = names.replace(",", " ").split()
    else:
        given = names.items() if type(names) in (dict, OrderedDict) else names
        members = [member if type(member) is str else tuple(member) for member in given]
    for member in members:
        require_definable(member if type(member) is str else member[0] if member else None)
    return members


def require_definable(name: Any) -> None:
    """Check the name of an attribute that a call gives to a class of the plan.

    Raises: ValueError: it belongs to Python or to the runtime.
    """
    if type(name) is not str or is_reserved(name) or not is_writable(name) or normalize("NFKC", name) != name:
        raise ValueError(
            f"a class of a plan cannot define {name!r} in this way" if type(name) is str else "names are texts"
        )


def _plan_enum(base: type) -> Any:
    space: Any = PlanEnumType.__prepare__(base.__name__, (base,))
    made: Any = PlanEnumType(base.__name__, (base,), space)
    made.__module__ = "enum"
    return made


ENUM_CLASSES: Final[dict[str, Any]] = {
    kind.__name__: _plan_enum(kind) for kind in (enum.Enum, enum.IntEnum, enum.StrEnum, enum.Flag, enum.IntFlag)
}
"""The classes of ``enum`` from which plans derive their own."""


def _make_class(name: Any, bases: Any, namespace: Any) -> Any:
    """``type(name, bases, namespace)``, with what a class statement of a plan could say.

    Raises: TypeError: a base or a name is not one of these.
    """
    for number, (given, kind) in enumerate(((name, str), (bases, tuple), (namespace, dict)), start=1):
        if type(given) is not kind:
            what = "None" if given is None else type(given).__name__
            raise TypeError(f"type.__new__() argument {number} must be {kind.__name__}, not {what}")
    _require_bases(bases)
    for key in namespace:
        if type(key) is not str or (is_reserved(key) and key not in DEFINABLE_DUNDERS) or not _is_definable(key):
            raise TypeError(f"a class of a plan cannot define {key!r}" if type(key) is str else "names are texts")

    def fill(space: Any) -> None:
        for key, value in own_names(namespace).items():
            space[key] = value

    return new_class(name, bases, {}, fill)


def _is_definable(name: str) -> bool:
    return is_writable(name) or name in DEFINABLE_DUNDERS


class _MetaclassName:
    """A metaclass as plans see it: a name to write after ``metaclass=``."""

    __slots__ = ("name", "real")

    def __init__(self, name: str, real: type) -> None:
        self.name, self.real = name, real

    def __repr__(self) -> str:
        return f"<class {self.name!r}>"


METACLASSES: Final = {
    "ABCMeta": _MetaclassName("abc.ABCMeta", ABCMeta),
    "EnumMeta": _MetaclassName("enum.EnumMeta", PlanEnumType),
}


def build_class(body: Callable[..., CellType | None], name: str, /, *bases: Any, **keywords: Any) -> Any:
    """Make a class of the plan, in place of Python's own ``__build_class__``.

    Raises: TypeError: a base or a metaclass is not one that plans may use.
    """
    _require_bases(bases)
    metaclass = keywords.pop("metaclass", None)
    if type(metaclass) is _MetaclassName:
        keywords["metaclass"] = metaclass.real
    elif metaclass is not None and metaclass is not PlanType:
        raise TypeError("metaclasses are not part of the plan language; use __init_subclass__ or a decorator")
    return builtins.__build_class__(body, name, *bases, **keywords)


def _require_bases(bases: tuple[Any, ...]) -> None:
    for base in bases:
        if not _is_allowed_base(base):
            shown = base.__name__ if is_class(base) else with_article(type(base).__name__)
            raise TypeError(f"a class cannot derive from {shown} here; derive from object, an exception or plain data")


def _is_allowed_base(base: Any) -> bool:
    """Return whether a plan may derive from this. A plan's object cannot pose as a base: exact types decide."""
    origin = base.__origin__ if type(base) in _ALIAS_TYPES else base
    if not is_class(origin):
        return any(base is known for known in RUNTIME_BASES)
    known = origin in BASE_TYPES or origin in RUNTIME_BASES or type(origin) is PlanEnumType
    return known or is_plan_class(origin) or issubclass(origin, Exception)


_ALIAS_TYPES: Final = frozenset({type(list[int]), type(typing.List), type(typing.List[int])})  # noqa: UP006
"""The types of ``list[int]``, ``List``, ``List[int]`` and ``Generic[T]``."""

TYPE_TEXTS: Final = frozenset({"__doc__", "__module__", "__name__", "__qualname__"})
"""Texts of a class or a function that any plan may read."""

RUNTIME_BASES: set[Any] = {typing.TypedDict}
"""Members of the plan's modules from which plans may derive, such as ``abc.ABC``. The modules add them."""


TextMethods: TypeAlias = dict[type, dict[str, Callable[..., object]]]
"""The guarded methods of ``str`` and ``bytes``."""


def read_own(value: Any, name: str, texts: TextMethods) -> Any:
    """Read an attribute of a plan's object or class, or of ``super()``. ``name`` is readable."""
    if name == "__class__":
        return visible_type(value)
    return _shown(value, name, getattr(value, name), texts)


def _subclasses(kind: Any) -> list[type]:
    """``kind.__subclasses__()``: the plan's own classes among them. Raises: AttributeError: ``kind`` is not one."""
    if not is_own_class(kind):
        raise AttributeError(f"'__subclasses__' is for classes of the plan, not for {kind.__name__}")
    return [below for below in type.__subclasses__(kind) if is_own_class(below)]


def _mro(kind: Any) -> list[type]:
    return list(_shown_bases(kind.__mro__))


def _register(kind: Any, subclass: Any) -> Any:
    """``kind.register(subclass)``. Raises: TypeError: it would change what a class of Python's counts as its own."""
    metaclass: Any = type(kind)
    if not issubclass(metaclass, ABCMeta):
        raise AttributeError(f"type object '{kind.__name__}' has no attribute 'register'")
    above = (base for base in kind.__mro__ if type(base) is not type and not is_own_class(base))
    if not all(base.__module__ in ("abc", "typing") for base in above):
        raise TypeError(f"register is for abstract classes of the plan alone; derive from {kind.__name__} instead")
    return metaclass.register(kind, subclass)


class _BoundToClass:
    """A method that a class of the plan has from its metaclass."""

    __slots__ = ("_kind", "_name")

    def __init__(self, name: str, kind: type) -> None:
        self._name, self._kind = name, kind

    def __call__(self, *args: Any) -> Any:
        return _OF_METACLASS[self._name](self._kind, *args)

    def __repr__(self) -> str:
        return f"<method {self._name!r} of {self._kind.__name__!r}>"


_OF_METACLASS: Final[dict[str, Callable[..., Any]]] = {
    "__subclasses__": _subclasses,
    "mro": _mro,
    "register": _register,
}
"""What a class has from its metaclass, as plans get it."""


def _shown(owner: Any, name: str, found: Any, texts: TextMethods) -> Any:
    """Return an attribute as a plan may have it: Python's own methods that reach further are guarded."""
    if name in _WRAPPED:
        return _guard_method(found, name, texts)
    if name in _OF_METACLASS and is_class(owner) and is_of_metaclass(owner, name):
        return _BoundToClass(name, owner)
    if name in _TABLES and type(found) is dict and not _is_own_table(owner, name, found):
        return dict(found)
    if name == "_hash" and getattr(found, "__func__", found) is AbstractSet._hash:
        raise AttributeError("Set._hash tells addresses here; write hash(frozenset(self))")
    if _is_of_runtime(owner, name, found):
        return _unbound(found)
    if name in _CAUSES:
        return found if issubclass(type(found), Exception) else None
    if is_class(owner):
        if name == "__dict__":
            kept = {n: v for n, v in found.items() if n not in _OUT_OF_TABLES and not (n == "__hash__" and is_made(v))}
            return {n: _shown_member(n, v, texts) for n, v in kept.items()}
        if name in ("__mro__", "__bases__"):
            return _shown_bases(found)
        if name == "__base__":
            return next(iter(_shown_bases((found,))), object)
        if name.startswith("_") and not is_reserved(name) and is_of_metaclass(owner, name):
            raise AttributeError(f"type object '{owner.__name__}' has no attribute '{name}'")
    if type(found) is BuiltinFunctionType:
        return _guarded_text_method(found, found.__self__, texts)
    if type(found) is _METHOD_OF_TYPE and found.__name__ in texts.get(found.__objclass__, ()):
        return texts[found.__objclass__][found.__name__]
    return dict(found) if type(found) is MappingProxyType else found


def is_of_metaclass(kind: type, name: str) -> bool:
    """Return whether none of the class and its bases has this attribute, so that only its metaclass may have it."""
    return not any(name in base.__dict__ for base in kind.__mro__)


_OUT_OF_TABLES: Final = frozenset({CLASS_MARK, "_new_member_", "_member_type_", "_value_repr_", "_abc_impl"})
"""What the table of a plan's class does not show: it would lead to classes and functions of Python's."""

_FIELDS: Final = "__dataclass_fields__"
_TABLES: Final = frozenset({"__annotations__", _FIELDS})


def _is_own_table(owner: Any, name: str, table: object) -> bool:
    """Return whether these are annotations of the plan's own class, which it may change: Python makes code of a
    dataclass's fields, and the runtime's classes serve all.
    """
    kind = owner if is_class(owner) else type(owner)
    own = (k for k in kind.__mro__ if is_own_class(k))
    return name == "__annotations__" and any(k.__dict__.get(name) is table for k in own)


def _is_of_runtime(owner: Any, name: str, function: object) -> bool:
    """Return whether a class, or the ``super()`` of one, has this function from a class that is not the plan's, or of
    the library's making: what ``dataclass`` writes takes any object, and sets attributes of any name.
    """
    if type(function) is not FunctionType:
        return False
    kind = _SUPER_SELF(owner) if type(owner) is super else owner
    if not is_class(kind):
        return False
    made = is_made(function) and name != "__hash__"  # which has a guard of its own
    return made or any(k.__dict__.get(name) is function and not is_own_class(k) for k in kind.__mro__)


def is_made(function: object) -> bool:
    """Return whether ``dataclass`` made this function for a class of the plan."""
    if type(function) is not FunctionType:
        return False
    return function.__code__.co_filename == "<string>" or function.__code__ in _GIVEN


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if type(constant) is CodeType:
            yield from _codes(constant)


_GIVERS: Final = ("_dataclass_getstate", "_dataclass_setstate", "_recursive_repr")
_GIVEN: Final = frozenset(
    code
    for function in (reprlib.recursive_repr, *(getattr(dataclasses, n) for n in _GIVERS if hasattr(dataclasses, n)))
    for code in _codes(function.__code__)
)
"""The code of functions that ``dataclass`` gives to each class; it writes the others itself."""


def _shown_member(name: str, value: Any, texts: TextMethods) -> Any:
    """Return what the table of a class shows: the plan's own as it is, Python's functions with their guards, and copies
    of Python's tables.
    """
    if type(value) is BuiltinFunctionType and value.__name__ == "__new__":
        return _guard_method(value, "__new__", texts)
    if type(value) in (dict, list, set) and is_reserved(name) and name != "__annotations__":
        return type(value)(value)
    if type(value) is MappingProxyType:
        return dict(value)
    function = value.__func__ if name == "__new__" and type(value) is staticmethod else value
    if type(function) is not FunctionType or is_plan_function(function):
        return value
    if name in _WRAPPED:
        return _guard_method(function, name, texts)
    return _unbound(function)


@cache
def _unbound(method: FunctionType, kind: type | None = None) -> Callable[..., Any]:
    """Return a method of Python's that takes the plan's own objects alone, or those of a ``kind`` as well: it would
    read and write any object. It is the same at each reading, as in Python.
    """
    first = method.__code__.co_varnames[0] if method.__code__.co_argcount else ""

    def unbound(*args: Any, **named: Any) -> Any:
        owner = args[0] if args else named.get(first)
        fits = is_plan_class(type(owner)) or (kind is not None and kind in type(owner).__mro__)
        if not fits and (args or not first or first in named):
            raise TypeError(
                f"{method.__name__} is for objects of the plan, not for {with_article(type(owner).__name__)}"
            )
        return method(*args, **named)

    unbound.__name__, unbound.__qualname__, unbound.__doc__ = method.__name__, method.__qualname__, method.__doc__
    unbound.__module__ = "builtins"
    return unbound


def _shown_bases(kinds: tuple[type, ...]) -> tuple[type, ...]:
    """Return the classes that a plan may have. Python's own of Enum are left out: they make any class."""
    shown: list[Any] = [kind if type(kind) is not enum.EnumType else ENUM_CLASSES.get(kind.__name__) for kind in kinds]
    allowed = [kind for kind in shown if kind is BaseException or _is_allowed_base(kind)]
    return tuple(dict.fromkeys(allowed))


_METHOD_OF_TYPE: Final[Any] = type(str.join)


def _guarded_text_method(method: Any, text: Any, texts: TextMethods) -> Any:
    """Return the guarded version of a method that a plan's own text inherits, or the method."""
    for kind in (str, bytes):
        if issubclass(type(text), kind) and method.__name__ in texts[kind]:
            return partial(texts[kind][method.__name__], text)
    return method


_CAUSES: Final = ("__cause__", "__context__")
"""Attributes that may hold what ends a plan, which a plan must not get."""


def is_own_super(value: Any) -> bool:
    """Return whether a ``super`` object is that of a plan's object or class. An object may name a class of Python's as
    its own, whose bases ``super`` would then read for it.
    """
    owner = _SUPER_SELF(value)
    kind = owner if is_class(owner) else type(owner)
    return is_plan_class(kind) and _SUPER_CLASS(value) in kind.__mro__


_SUPER_SELF: Final = typing.cast(Callable[[Any], Any], super.__dict__["__self__"].__get__)
_SUPER_CLASS: Final = typing.cast(Callable[[Any], Any], super.__dict__["__thisclass__"].__get__)


def _guard_method(method: Any, name: str, texts: TextMethods) -> Any:
    """Return a method that the plan wrote as it is, and one of Python's with checks of its arguments."""
    if type(method) in _PYTHON_METHODS and is_plan_function(getattr(method, "__func__", method)):
        return method
    bound = type(method) not in (FunctionType, WrapperDescriptorType) and name != "__new__"

    def checked(*args: Any, **named: Any) -> Any:
        if name == "__new__":
            _require_own_class(args[0] if args else None)
            return method(*args, **named)
        if named:  # the methods that dataclass makes would take a name that is not checked
            raise TypeError(f"wrapper {name}() takes no keyword arguments")
        owner = method.__self__ if bound else args[0] if args else None
        names = args[0 if bound else 1 :][:1]
        if name in _WRITES and (type(owner) in _WITHOUT_ATTRIBUTES or any(map(_is_no_text, names))):
            return method(*args, **named)  # raises Python's own error
        _require_own(owner)
        _require_name(names, name)
        if name == "__getattribute__" and names and is_class(owner):  # Python's would read its metaclass
            return read_own(owner, names[0], texts)
        if name == "__getattribute__" and names == ("__class__",):
            return visible_type(owner)
        if name == "__getattribute__" and names == ("__hash__",):
            raise AttributeError("__hash__ tells addresses in this way; write hash(x)")
        found = method(*args, **named)
        return _shown(owner, names[0], found, texts) if name == "__getattribute__" else found

    checked.__name__ = checked.__qualname__ = name
    checked.__module__ = "builtins"
    return checked


_WRITES: Final = ("__setattr__", "__delattr__")


def _is_no_text(name: object) -> bool:
    return not issubclass(type(name), str)


def _require_own_class(kind: Any) -> None:
    if not (is_class(kind) and is_plan_class(kind)) and kind is not object:
        raise TypeError("__new__ makes objects of the plan's own classes only")


def _require_own(owner: Any) -> None:
    if not (is_plan_class(type(owner)) or is_own_class(owner)):
        raise TypeError("only attributes of the plan's own objects can be reached in this way")


def _require_name(names: tuple[Any, ...], method: str) -> None:
    allowed = is_readable if method == "__getattribute__" else is_writable
    for name in names:
        if type(name) is not str or not allowed(name):
            raise AttributeError(f"the attribute {name if type(name) is str else '?'} cannot be used in this way")


def writable_class(owner: Any) -> Any:
    """Return ``owner`` if it is a class of the plan, to which a plan may add methods such as ``__repr__``, or an object
    of one, whose attributes of such names Python does not call.

    Raises: AttributeError: it is neither.
    """
    if is_own_class(owner) or (is_plan_class(type(owner)) and not is_class(owner)):
        return owner
    raise AttributeError("methods of this name can be written to classes of the plan and their objects only")


WRITERS: dict[type, Callable[[Any], Any]] = {}
"""What writes attributes of other types, with checks. Modules of the plan add theirs."""


_WITHOUT_ATTRIBUTES: Final = frozenset(
    {str, bytes, int, float, complex, bool, list, dict, tuple, set, frozenset, range, slice, type(None)}
    | {map, filter, zip, enumerate, reversed, type(iter("a")), type(iter("é")), type(iter(b""))}
    | {type(iter(made())) for made in (list, tuple, dict, set)}
    | {type(made({})) for made in (dict.keys, dict.values, dict.items)}
    | {type(iter(range(0))), type(reversed([])), type(reversed({}))}
)


def writable_owner(owner: Any) -> Any:
    """Return ``owner`` if a plan may write its attributes: an object, a class or a function of the plan.

    Raises: AttributeError: it may not, in Python's words.
    """
    kind = type(owner)
    if is_plan_class(kind) or is_own_class(owner) or is_plan_function(owner):
        return owner
    if kind in WRITERS:
        return WRITERS[kind](owner)
    if kind in _WITHOUT_ATTRIBUTES or (kind is type and owner.__flags__ & IMMUTABLE_TYPE):
        return owner  # Python itself refuses, in its own words
    raise AttributeError(f"attributes of {with_article(kind.__name__)} cannot be written")


def read_of_data(value: Any, name: str) -> Any:
    """Read a method such as ``(5).__add__``, ``super(bool, True).__add__`` or ``iter(x).__next__``.

    None if there is none that plans may call.
    """
    owner = _SUPER_SELF(value) if type(value) is super else value
    data = type(owner) in VISIBLE_TYPES and not (type(value) is super and type(owner) is Array)
    readable = READABLE_DUNDERS - _WRAPPED - _OF_COPY if data else _OF_ITERATORS
    if owner is None and value is not None:  # super(C, None) is bound to nothing
        owner, readable = value, _OF_OBJECTS
    if name not in readable:
        return None
    found: Any = getattr(value, name, None)
    is_method = type(found) in _BOUND_METHODS or (type(found) is MethodType and type(owner) in _WITH_METHODS_OF_OURS)
    return found if is_method and found.__self__ is owner else None


_OF_COPY: Final = frozenset({"__copy__", "__deepcopy__"})
"""Methods that copy what they hold by Python's own ``copy``, which tells addresses."""

_OF_OBJECTS: Final = frozenset({"__eq__", "__ge__", "__gt__", "__hash__", "__le__", "__lt__", "__ne__"})
_OF_ITERATORS: Final = frozenset({"__iter__", "__next__", "__repr__", "__str__"})
_WITH_METHODS_OF_OURS: Final = (Array, bytes, bytearray)
_BOUND_METHODS: Final = (MethodWrapperType, BuiltinFunctionType)


def read_of_type(kind: type, name: str, texts: TextMethods) -> Any:
    """Read a method such as ``dict.__setitem__`` or ``Exception.__init__`` of a type that plans may derive from.

    Raises: AttributeError: the type has no such method, or plans may not read it.
    """
    if name in TYPE_TEXTS:
        return getattr(kind, name)
    if name == "__mro__":
        return _shown_bases(kind.__mro__)
    if is_reserved(name) and any(name in k.__dict__ for k in kind.__mro__):
        found = getattr(kind, name)
        if name in _WRAPPED:
            return _guard_method(found, name, texts)
        if type(found) is FunctionType:
            return _unbound(found, kind)
        if type(found) in _C_METHODS:
            return found
    raise AttributeError(f"type object '{kind.__name__}' has no attribute '{name}'")
