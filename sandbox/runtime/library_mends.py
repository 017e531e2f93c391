"""Mends Python's own library where one of its functions would open a door to a plan.

Each of these functions trusts what it is given: it asks an object which class it has, writes a name into code, or calls
whatever class an object names. In a worker the object is a plan's. What plans import is chosen and wrapped elsewhere
(``codeplan.sandbox.runtime.modules``); here stands what the library does with it further inside.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import csv
import dataclasses
import enum
import functools
import inspect
import keyword
import pprint
import statistics
import typing
import unicodedata
from collections.abc import Callable, Iterator
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any, Final

from codeplan.sandbox.runtime.classes import (
    CLASS_MARK,
    IMMUTABLE_TYPE,
    PlanEnumType,
    is_class,
    is_of_metaclass,
    is_own_class,
    is_plan_class,
)
from codeplan.sandbox.runtime.names import is_writable
from codeplan.sandbox.runtime.termination import find_limit
from codeplan.untrusted.texts import with_article


@functools.cache
def mend_library() -> None:
    """Replace the functions, once in a process, before it reads a plan."""
    _mend_aliases()
    _mend_dataclasses()
    _mend_enums()
    _mend_means()
    _mend_nodes()
    _mend_signatures()
    _mend_wrappers()
    csv.reader, csv.writer = read_rows, write_rows
    csv._Dialect = _checked_dialect  # type: ignore[attr-defined]
    pprint._recursion = _recursion_text  # type: ignore[attr-defined]  # Python's tells an address
    for kind in (collections.UserDict, collections.UserList):
        kind.__copy__ = _copy_user_class  # type: ignore[method-assign]


def _mend_aliases() -> None:
    """Let a call of an alias, such as ``K[int]()``, note its alias at objects of the plan alone, and keep the mark of
    plan classes out of the members that a Protocol asks for.
    """
    excluded: Any = typing.EXCLUDED_ATTRIBUTES  # type: ignore[attr-defined]
    typing.EXCLUDED_ATTRIBUTES = type(excluded)([*excluded, CLASS_MARK])  # type: ignore[attr-defined]
    alias: Any = typing._BaseGenericAlias  # type: ignore[attr-defined]
    refuse = alias.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self._inst:
            return refuse(self, *args, **kwargs)
        result = self.__origin__(*args, **kwargs)
        if is_plan_class(type(result)):
            with contextlib.suppress(AttributeError):
                result.__orig_class__ = self
        return result

    alias.__call__ = call


def _mend_dataclasses() -> None:
    """Let Python make fields of names alone: it writes them into code. Annotations may hold any text, and change."""
    get_field = dataclasses._get_field  # type: ignore[attr-defined]

    def checked(cls: type, name: object, *rest: Any) -> Any:
        if type(name) is not str or not name.isidentifier() or keyword.iskeyword(name):
            raise TypeError("the names of a dataclass's fields must be identifiers")
        if is_own_class(cls) and (not is_writable(name) or _means_another(cls, name)):
            raise TypeError(f"a field of a plan's dataclass cannot be called {name!r}")
        return get_field(cls, name, *rest)

    dataclasses._get_field = checked  # type: ignore[attr-defined]
    dataclasses._replace = replace_fields  # type: ignore[attr-defined]  # Python 3.13 makes ``__replace__`` of it


def _means_another(kind: type, name: str) -> bool:
    """Return whether Python would take the name for another: in code it folds letters, and as a default it takes what a
    class has from its metaclass.
    """
    return unicodedata.normalize("NFKC", name) != name or (hasattr(type(kind), name) and is_of_metaclass(kind, name))


def require_dataclass(function: str, obj: Any) -> Any:
    """Return an object whose real class is a dataclass. Raises TypeError; ``function`` is for the message."""
    if is_class(obj) or not dataclasses.is_dataclass(type(obj)):
        raise TypeError(f"{function}() should be called on dataclass instances")
    return obj


def replace_fields(obj: Any, /, **changes: Any) -> Any:
    """``dataclasses.replace``, by the fields of the object's class: a table of the object's own could name any."""
    kind = type(require_dataclass("replace", obj))
    for field in kind.__dataclass_fields__.values():
        if field._field_type is dataclasses._FIELD_CLASSVAR:  # type: ignore[attr-defined]
            continue
        if not field.init:
            if field.name in changes:
                raise ValueError(
                    f"field {field.name} is declared with init=False, it cannot be specified with replace()"
                )
        elif field.name not in changes:
            is_argument = field._field_type is dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]
            if is_argument and field.default is dataclasses.MISSING:
                raise ValueError(f"InitVar {field.name!r} must be specified with replace()")
            changes[field.name] = getattr(obj, field.name)
    return kind(**changes)


def _mend_enums() -> None:
    """Let the Enum classes of plans write to new members of theirs alone, whatever makes them, and read no attribute of
    what a plan names as a member's value.
    """
    member: Any = enum._proto_member  # type: ignore[attr-defined]
    add = member.__set_name__

    def add_checked(self: Any, enum_class: Any, member_name: str) -> None:
        if type(enum_class) is PlanEnumType:
            type.__setattr__(enum_class, "_new_member_", _member_maker(vars(enum_class)["_new_member_"]))
        add(self, enum_class, member_name)

    member.__set_name__ = add_checked
    enum._dataclass_repr = _fields_text  # type: ignore[attr-defined]  # from Python 3.12 on
    flags: Any = enum.Flag
    combine = flags._missing_.__func__

    def combine_checked(cls: Any, value: object) -> Any:
        new = next(kind.__dict__["__new__"] for kind in cls._member_type_.__mro__ if "__new__" in kind.__dict__)
        if not _is_pythons_new(new):
            raise TypeError(f"the members of {cls.__name__} cannot be made by a __new__ of the plan's")
        return combine(cls, value)

    flags._missing_ = classmethod(combine_checked)
    if hasattr(enum.property, "_attr_type"):  # from Python 3.12 on
        read: Callable[..., Any] = enum.property.__get__

        def read_checked(self: Any, instance: Any, ownerclass: Any = None) -> Any:
            if instance is not None and self.fget is None and self._attr_type == "desc":
                raise AttributeError(f"a member of an Enum has no attribute {self.name!r} here")
            return read(self, instance, ownerclass)

        enum.property.__get__ = read_checked  # type: ignore[method-assign]


def _fields_text(value: Any) -> str:
    """The text of a dataclass that an Enum mixes in, by the fields of its class: a value may name others."""
    fields = dataclasses.fields(type(require_dataclass("repr", value)))
    return ", ".join(f"{field.name}={getattr(value, field.name)!r}" for field in fields if field.repr)


def _is_pythons_new(function: Any) -> bool:
    """Whether this is the ``__new__`` of a type that is written in C, which makes objects of the class it is given."""
    return type(function) is BuiltinFunctionType and function.__name__ == "__new__" and is_class(function.__self__)


def _member_maker(make: Any) -> Callable[..., Any]:
    """Return what makes the members of an Enum, which returns nothing but new members."""
    if _is_pythons_new(make) or (type(make) is FunctionType and make.__code__ in _CHECKED):
        return make  # type: ignore[no-any-return]

    def new(cls: Any, *args: Any, **named: Any) -> Any:
        made = make(cls, *args, **named)
        if type(made) is not cls:
            raise TypeError(f"__new__ of an Enum returns a new member of {cls.__name__}, not {type(made).__name__}")
        return made

    _CHECKED.add(new.__code__)
    return new


_CHECKED: Final = set[CodeType]()  # the code of ``new``


_WRITTEN_IN_C: Final = (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
)
"""Kinds of functions whose signature is a text of Python's own. All others can hold one of a plan's."""


def _mend_signatures() -> None:
    """Let ``inspect`` make no signature of a text of the plan's, whose defaults it would evaluate: the docstring of a
    class or, from Python 3.13 on, what any object has as its ``__signature__``.
    """
    parse: Callable[..., Any] = inspect._signature_fromstr  # type: ignore[attr-defined]

    def parse_checked(cls: Any, obj: Any, *rest: Any, **named: Any) -> Any:
        if not (obj.__flags__ & IMMUTABLE_TYPE if is_class(obj) else type(obj) in _WRITTEN_IN_C):
            raise ValueError(f"no signature found for {obj!r}")
        return parse(cls, obj, *rest, **named)

    inspect._signature_fromstr = parse_checked  # type: ignore[attr-defined]


def _mend_wrappers() -> None:
    """Let a wrapper take no names over that belong to Python, such as ``__signature__``: an object of the plan may have
    any in its table, where the library trusts what a function has.
    """
    update: Callable[..., Any] = functools.update_wrapper

    def update_checked(wrapper: Any, wrapped: Any, *rest: Any, **named: Any) -> Any:
        made = update(wrapper, wrapped, *rest, **named)
        if is_plan_class(type(wrapped)):
            table = vars(made)
            for name in [n for n in table if type(n) is not str or not is_writable(n)]:
                del table[name]
        return made

    functools.update_wrapper = update_checked


_READER: Final = csv.reader
_WRITER: Final = csv.writer
_DIALECT: Final[Any] = csv._Dialect  # type: ignore[attr-defined]
_DIALECT_NAMES: Final = (
    *("delimiter", "doublequote", "escapechar", "lineterminator"),
    *("quotechar", "quoting", "skipinitialspace", "strict"),
)


def read_rows(csvfile: Any, *dialect: Any, **options: Any) -> Any:
    """``csv.reader`` of lines that cannot ask for the next row meanwhile: the reader would lose its fields."""
    given, chosen = plain_dialect(dialect, options)
    return _READER(_lines_once(iter(csvfile)), *given, **chosen)


def write_rows(csvfile: Any, *dialect: Any, **options: Any) -> Any:
    """``csv.writer``, whose dialect is read first."""
    given, chosen = plain_dialect(dialect, options)
    return _WRITER(csvfile, *given, **chosen)


def _checked_dialect(dialect: Any) -> Any:
    given, chosen = plain_dialect((dialect,), {})
    return _DIALECT(*given, **chosen)


def plain_dialect(dialect: tuple[Any, ...], options: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a dialect and its options as ``csv`` is to have them. What a class or an object says becomes options:
    Python would go on after any error of its attributes, also after one that ends the plan.
    """
    named = "dialect" in options and not dialect
    chosen: Any = options["dialect"] if named else dialect[0] if len(dialect) == 1 else None
    if (chosen if is_class(chosen) else type(chosen)).__flags__ & IMMUTABLE_TYPE:
        return dialect, options
    read: dict[str, Any] = {}
    for name in _DIALECT_NAMES:
        try:
            read[name] = getattr(chosen, name)
        except Exception as error:
            if find_limit(error) is not None:
                raise
    return (), read | {name: value for name, value in options.items() if name != "dialect"}


def _lines_once(lines: Iterator[Any]) -> Iterator[Any]:
    yield from lines  # a generator that runs refuses to run again


def _mend_means() -> None:
    """Let ``statistics`` call no class of classes, which would make the real class of what a plan gives it."""
    coerce: Callable[[Any, Any], Any] = statistics._coerce  # type: ignore[attr-defined]

    def coerced(T: Any, S: Any) -> Any:
        if issubclass(S, type):
            raise TypeError(f"can't convert type '{S.__name__}' to numerator/denominator")
        return coerce(T, S)

    statistics._coerce = coerced  # type: ignore[attr-defined]


def _mend_nodes() -> None:
    """Let nodes be made with the names of their kind alone: with others, Python would write any attribute, such as the
    node's class, or a table of its own by which ``ast.dump`` reads any attribute.
    """
    initialize: Callable[..., None] = ast.AST.__init__

    def checked(self: Any, /, *args: Any, **kwargs: Any) -> None:
        kind = type(self)
        for name in kwargs:
            if type(name) is not str or name not in (*kind._fields, *kind._attributes):
                shown = str.__str__(name)  # a plan's own kind of text shows and compares as it likes
                raise TypeError(f"{kind.__name__}.__init__ got an unexpected keyword argument {shown!r}")
        initialize(self, *args, **kwargs)

    checked.__name__, checked.__qualname__ = "__init__", "AST.__init__"
    nodes: Any = ast.AST
    nodes.__init__ = checked


def _recursion_text(value: object) -> str:
    return f"<Recursion on {type(value).__name__}>"


def _copy_user_class(self: Any) -> Any:
    """``copy.copy`` of a UserDict or a UserList, by its real class and table: an object may name others as its own."""
    if not {collections.UserDict, collections.UserList} & {*type(self).__mro__}:
        raise TypeError(f"this __copy__ is not for {with_article(type(self).__name__)}")
    made = object.__new__(type(self))
    table, own = object.__getattribute__(made, "__dict__"), object.__getattribute__(self, "__dict__")
    table |= own
    table["data"] = own["data"].copy() if type(self).__mro__.count(collections.UserDict) else own["data"][:]
    return made
