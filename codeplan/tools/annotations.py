"""Annotations as text for the API that models read, with the names that need an explanation.

A plan has no classes: it gets every object with fields as a dict. So dataclasses, pydantic models and TypedDicts are
all described as TypedDicts, and enums as the values of their members.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import inspect
import pathlib
import sys
import types
import typing
import uuid
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator, Iterable, Mapping
from typing import Any, Final, get_args, get_origin

import typing_extensions

from codeplan.types import AgentType
from codeplan.untrusted.terminal import one_line
from codeplan.untrusted.values import value_text

_TEXTS: Final[dict[object, tuple[str, str]]] = {
    datetime.datetime: ("datetime", "datetime = str  # ISO 8601, as in '2024-05-01T12:30:00'"),
    datetime.date: ("date", "date = str  # ISO 8601, as in '2024-05-01'"),
    datetime.time: ("time", "time = str  # ISO 8601, as in '12:30:00'"),
    datetime.timedelta: ("timedelta", "timedelta = str  # ISO 8601, as in 'PT90S' for 90 seconds"),
    decimal.Decimal: ("Decimal", "Decimal = str  # a decimal number, as in '12.50'"),
    uuid.UUID: ("UUID", "UUID = str  # as in '12345678-1234-5678-1234-567812345678'"),
    pathlib.Path: ("Path", "Path = str  # a path of the file system"),
    pathlib.PurePath: ("Path", "Path = str  # a path of the file system"),
    bytes: ("bytes", "bytes = str  # text in UTF-8"),
}
"""Types that a plan gets as texts: the name, and its explanation."""

_WRAPPERS: Final = frozenset(
    {
        typing.Annotated,
        typing.ClassVar,
        typing.Final,
        typing_extensions.NotRequired,
        typing_extensions.ReadOnly,
        typing_extensions.Required,
    }
)
UNPACKS: Final = frozenset({typing.Unpack, typing_extensions.Unpack})
_LITERALS: Final = frozenset({typing.Literal, typing_extensions.Literal})
_MISSING: Final = "  # may be missing"
_OPTIONAL: Final = "  # may be left out in an argument"
_MAX_LITERAL: Final = 200


class TypeWriter:
    """Writes annotations as text. ``types`` explains the names in all of them."""

    def __init__(self) -> None:
        self.types: dict[str, AgentType] = {}
        self._names: dict[type, str] = {}

    def text(self, annotation: Any) -> str:
        """The annotation in Python's notation, ``object`` if it allows everything."""
        if annotation is None or annotation is type(None):
            return "None"
        if annotation is Any or annotation is object or annotation is inspect.Parameter.empty:
            return "object"
        if isinstance(annotation, str):
            return one_line(annotation, _MAX_LITERAL)
        if isinstance(annotation, typing.ForwardRef):
            return one_line(annotation.__forward_arg__, _MAX_LITERAL)
        if isinstance(annotation, type) and not get_args(annotation):
            return self._class(annotation)
        return self._form(annotation)

    def _form(self, annotation: Any) -> str:
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin in _WRAPPERS:
            text = self.text(arguments[0])
            widened = get_origin(arguments[0]) in _LITERALS and any(map(_may_convert, arguments[1:]))
            return f"{text} | object" if widened else text
        if origin is typing.Union or origin is types.UnionType:
            return " | ".join(dict.fromkeys(self.text(a) for a in arguments))
        if origin in _LITERALS:
            return _literal_text(arguments)
        if origin in UNPACKS:
            return f"Unpack[{self.text(arguments[0])}]"
        if (meant := getattr(annotation, "__supertype__", None) or getattr(annotation, "__value__", None)) is not None:
            return self.text(meant)  # a NewType, or an alias
        if not isinstance(origin, type):
            return "object"
        if issubclass(origin, Awaitable):
            return self.text(arguments[-1])
        if issubclass(origin, Generator | AsyncGenerator):
            arguments = arguments[:1]
        shown = ", ".join("..." if a is Ellipsis else self._argument(a) for a in arguments)
        return f"{_class_name(origin)}[{shown}]" if shown else _class_name(origin)

    def _argument(self, argument: Any) -> str:
        return f"[{', '.join(map(self.text, argument))}]" if isinstance(argument, list) else self.text(argument)

    def _class(self, cls: type) -> str:
        if cls in _TEXTS:
            name, text = _TEXTS[cls]
            self.types.setdefault(name, AgentType(name, text))
            return name
        if issubclass(cls, enum.Enum):
            return self._explain(cls, lambda name: _enum_text(name, cls))
        if (fields := _fields(cls)) is not None:
            return self._explain(cls, lambda name: self._dict_text(name, cls, fields))
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return self._explain(cls, lambda name: self._tuple_text(name, cls))
        return _class_name(cls)

    def _explain(self, cls: type, write: Callable[[str], str]) -> str:
        """The name of a class, which is explained once. Two classes of one name get different names."""
        if known := self._names.get(cls):
            return known
        name, number = cls.__name__, 2
        while name in self.types:
            name, number = f"{cls.__name__}{number}", number + 1
        self._names[cls] = name
        self.types[name] = AgentType(name, "")  # it keeps its place, and may contain itself
        self.types[name] = AgentType(name, write(name))
        return name

    def _dict_text(self, name: str, cls: type, fields: Mapping[str, tuple[Any, str]]) -> str:
        lines = [f"class {name}(TypedDict):  # a dict", *(f"    {line}" for line in _doc_lines(cls))]
        lines += [f"    {field}: {self.text(kind)}{note}" for field, (kind, note) in fields.items()]
        return "\n".join(lines)

    def _tuple_text(self, name: str, cls: Any) -> str:
        hints = type_hints(cls)
        parts = ", ".join(self.text(hints.get(field, object)) for field in cls._fields)
        return f"{name} = tuple[{parts}]  # {', '.join(cls._fields)}"


def signature_text(signature: inspect.Signature, types: TypeWriter) -> str:
    """A signature as a class stub shows it, as in ``(query: str, *, limit: int = 10) -> list[str]``."""
    parts: list[str] = []
    kinds = [p.kind for p in signature.parameters.values()]
    for at, p in enumerate(signature.parameters.values()):
        if p.kind is p.KEYWORD_ONLY and not {p.KEYWORD_ONLY, p.VAR_POSITIONAL} & {*kinds[:at]}:
            parts.append("*")
        parts.append(_parameter_text(p, types))
        if p.kind is p.POSITIONAL_ONLY and p.kind not in kinds[at + 1 :]:
            parts.append("/")
    returns = signature.return_annotation
    result = "" if returns is Any or returns is signature.empty else f" -> {types.text(returns)}"
    return f"({', '.join(parts)}){result}"


def _parameter_text(p: inspect.Parameter, types: TypeWriter) -> str:
    stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
    kind = "" if p.annotation is Any or p.annotation is p.empty else f": {types.text(p.annotation)}"
    equals = " = " if kind else "="
    default = "" if p.default is p.empty else equals + _default_text(p.default)
    return f"{stars}{p.name}{kind}{default}"


def _default_text(default: object) -> str:
    if isinstance(default, enum.Enum):
        default = default.value
    simple = default is None or isinstance(default, bool | int | float | str) or default in ([], {}, ())
    return value_text(default, _MAX_LITERAL) if simple else "..."


def describe(annotation: Any) -> str:
    """What ``Annotated`` says about a parameter in words: a text, ``Doc("…")`` or ``Field(description="…")``."""
    notes = getattr(annotation, "__metadata__", ())
    found = (n if isinstance(n, str) else getattr(n, a, None) for n in notes for a in ("documentation", "description"))
    return next((text for text in found if isinstance(text, str)), "")


def _may_convert(note: object) -> bool:
    """Whether a part of an ``Annotated`` is a validator of pydantic that sees values before their type is checked."""
    return type(note).__name__ in ("BeforeValidator", "PlainValidator", "WrapValidator")


def _enum_text(name: str, cls: type[enum.Enum]) -> str:
    names = "" if all(isinstance(m.value, str) for m in cls) else f"  # {', '.join(m.name for m in cls)}"
    return f"{name} = {_literal_text(cls)}{names}"


def _literal_text(members: Iterable[Any]) -> str:
    values = (m.value if isinstance(m, enum.Enum) else m for m in members)
    return f"Literal[{', '.join(value_text(v, _MAX_LITERAL) for v in values)}]"


def _fields(cls: type) -> dict[str, tuple[Any, str]] | None:
    """The fields of a class with a type and a comment for each; None if it has no fields."""
    if typing_extensions.is_typeddict(cls):
        return {
            name: (kind, "" if is_required(cls, name, kind) else _MISSING) for name, kind in type_hints(cls).items()
        }
    if dataclasses.is_dataclass(cls):
        hints = type_hints(cls)
        return {f.name: (hints.get(f.name, object), _optional(f)) for f in dataclasses.fields(cls) if f.init}
    models = getattr(cls, "model_fields", None)
    if isinstance(models, dict):
        return {name: (f.annotation, "" if f.is_required() else _OPTIONAL) for name, f in models.items()}
    return None


def is_required(cls: type, name: str, kind: Any) -> bool:
    """Whether a TypedDict must have the key ``name`` of the type ``kind``."""
    marked = get_origin(kind)
    if marked in (typing_extensions.Required, typing_extensions.NotRequired):  # the class has not seen those in a text
        return marked is typing_extensions.Required
    return name in getattr(cls, "__required_keys__", ())


def _optional(field: dataclasses.Field[Any]) -> str:
    missing = dataclasses.MISSING
    return "" if field.default is missing and field.default_factory is missing else _OPTIONAL


def type_hints(owner: Any) -> dict[str, Any]:
    """The annotations of a class or a function. An annotation with a name that does not exist at run time stays a
    text.
    """
    try:
        return typing_extensions.get_type_hints(owner, include_extras=True)
    except Exception:  # evaluating an annotation runs the developer's code
        return {n: _hint(owner, n, k) for n, k in inspect.get_annotations(owner).items()}


def _hint(owner: Any, name: str, annotation: Any) -> Any:
    holder = types.SimpleNamespace(__annotations__={name: annotation})
    module = sys.modules.get(getattr(owner, "__module__", ""))
    try:
        return typing_extensions.get_type_hints(holder, vars(module) if module else {}, include_extras=True)[name]
    except Exception:  # as above
        return annotation


def _doc_lines(cls: type) -> list[str]:
    """The first paragraph of a docstring that the class's author wrote, as comments."""
    doc = inspect.cleandoc(vars(cls).get("__doc__") or "").partition("\n\n")[0]
    return [] if doc.startswith(f"{cls.__name__}(") else [f"# {line}" for line in doc.splitlines()]


def _class_name(cls: type) -> str:
    """The class's name, or the type of plain data that represents it."""
    if issubclass(cls, Mapping):
        return "dict"
    if issubclass(cls, str | tuple | list | Callable):
        return cls.__name__
    return "list" if issubclass(cls, Iterable | AsyncIterable) else cls.__name__
