"""Checks and converts the arguments of a call, by the annotations of a Python function, with pydantic.

Pydantic is imported when the first tool is built: codeplan without tools starts faster without it."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import inspect
import pathlib
import sys
import sysconfig
import traceback
import types
import typing
import uuid
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator, Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NewType, TypeVar, get_args, get_origin

import typing_extensions

from codeplan.errors import AgentError
from codeplan.tools.failures import failure_sentence
from codeplan.types import AgentType
from codeplan.untrusted.texts import escape_surrogates, message_text, one_line
from codeplan.untrusted.values import value_text, whole_value_text

if TYPE_CHECKING:
    from pydantic import TypeAdapter

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
_NO_FIELD: Final = "  # may be missing"
_OPTIONAL: Final = "  # may be left out in an argument"
_MAX_LITERAL: Final = 200
_MAX_COMMENT: Final = 200


class TypeWriter:
    """Writes annotations as text. ``types`` explains the names in all of them; ``taken`` are names of other types.

    Members of a union stand in an order of their own where Python's caches of types may have changed the written one
    (see ``members_of``), so that a signature is the same in whatever order modules were imported.
    """

    def __init__(self, taken: Mapping[str, AgentType] | None = None) -> None:
        self.types: dict[str, AgentType] = dict(taken or {})
        self._names: dict[type, str] = {}
        self._used: dict[str, set[str]] = {"": set()}  # the names that the text of each type has; "": the latest text
        self._writing = [""]

    def signature(self, signature: inspect.Signature) -> tuple[str, tuple[AgentType, ...]]:
        """A signature as text, and the types that explain the names in it."""
        self._used[""] = set()
        text = signature_text(signature, self)
        found, left = set[str](), self._used[""]
        while left:
            found |= left
            left = {name for each in left for name in self._used.get(each, ())} - found
        return text, tuple(each for name, each in self.types.items() if name in found)

    def text(self, annotation: Any, *, is_cached: bool = False) -> str:
        """The annotation in Python's notation, ``object`` if it allows everything.

        ``is_cached``: it is a part of a type that Python may have taken from its cache.
        """
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
        return self._form(annotation, is_cached)

    def _form(self, annotation: Any, is_cached: bool) -> str:
        origin, arguments = get_origin(annotation), get_args(annotation)
        write = partial(self.text, is_cached=is_cached or _is_cached(annotation))
        if origin in _WRAPPERS:
            text = write(arguments[0])
            widened = get_origin(arguments[0]) in _LITERALS and any(map(_may_convert, arguments[1:]))
            return f"{text} | object" if widened else text
        if origin in _UNIONS:
            return " | ".join(dict.fromkeys(map(write, members_of(annotation, is_cached=is_cached))))
        if origin in _LITERALS:
            return _literal_text(members_of(annotation, is_cached=is_cached))
        if origin in UNPACKS:
            return f"Unpack[{write(arguments[0])}]"
        if (meant := getattr(annotation, "__supertype__", None) or getattr(annotation, "__value__", None)) is not None:
            return self.text(meant)  # a NewType, or an alias
        if not isinstance(origin, type):
            return "object"
        if issubclass(origin, Awaitable):
            return write(arguments[-1])
        if issubclass(origin, Generator | AsyncGenerator):
            arguments = arguments[:1]
        parts = (
            "..." if a is Ellipsis else f"[{', '.join(map(write, a))}]" if isinstance(a, list) else write(a)
            for a in arguments
        )
        shown = ", ".join(parts)
        return f"{_class_name(origin)}[{shown}]" if shown else _class_name(origin)

    def _class(self, cls: type) -> str:
        if (known := _TEXTS.get(cls) or _table_text(cls)) is not None:
            name, text = known
            self.types.setdefault(name, AgentType(name, text))
            return self._use(name)
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
            return self._use(known)
        name, number = cls.__name__, 2
        while name in self.types:
            name, number = f"{cls.__name__}{number}", number + 1
        self._names[cls], self._used[name] = name, set()
        self.types[name] = AgentType(name, "")  # it keeps its place, and may contain itself
        self._writing.append(name)
        self.types[name] = AgentType(name, write(name))
        self._writing.pop()
        return self._use(name)

    def _use(self, name: str) -> str:
        """Keep that what is written now has this name."""
        self._used[self._writing[-1]].add(name)
        return name

    def _dict_text(self, name: str, cls: type, fields: Mapping[str, tuple[Any, str]]) -> str:
        lines = [f"class {name}(TypedDict):  # a dict", *(f"    {line}" for line in _doc_lines(cls))]
        lines += [f"    {field}: {self.text(kind)}{note}" for field, (kind, note) in fields.items()]
        return "\n".join(lines)

    def _tuple_text(self, name: str, cls: Any) -> str:
        hints = type_hints(cls)
        parts = ", ".join(self.text(hints.get(field, object)) for field in cls._fields)
        return f"{name} = tuple[{parts}]  # {', '.join(cls._fields)}"


_UNIONS: Final = (typing.Union, types.UnionType)


def members_of(annotation: Any, *, is_cached: bool = False) -> tuple[Any, ...]:
    """The members of a union or a literal, in an order that does not depend on what was imported before.

    ``typing`` keeps the types that it has made, and takes ``Dict[str, Union[str, bool]]`` and ``Dict[str, Union[bool,
    str]]`` for equal: whichever is made first stands for both. Members of ``typing.Union``, and all that are part of a
    type of ``typing``, are sorted, with None last; those of ``str | bool`` stay as they are written.
    """
    found = get_args(annotation)
    if not is_cached and (get_origin(annotation) in _LITERALS or not _is_cached(annotation)):
        return found
    return tuple(sorted(found, key=lambda each: (each is None or each is type(None), _order_key(each))))


def _is_cached(annotation: Any) -> bool:
    """Whether a form is one of ``typing``, whose parts may be those of an equal form made before."""
    return type(annotation).__module__ in ("typing", "typing_extensions")


_MAX_KEY: Final = 10_000


def _order_key(annotation: Any) -> str:
    """A text for an annotation that is the same for equal ones. No names are given to classes meanwhile."""
    if isinstance(annotation, type) and not get_args(annotation):
        return f"{annotation.__qualname__} {annotation.__module__}"
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None:
        return f"{value_text(annotation, _MAX_KEY)} {type(annotation).__name__}"
    keys = [_order_key(each) for each in arguments]
    return f"{_order_key(origin)}{sorted(keys) if origin in (*_UNIONS, *_LITERALS) else keys}"


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


MAX_CERTAIN_CHARS: Final = 200
"""Maximum length of a type by which the check of a plan refuses constants, in characters."""


def certain_type(annotation: Any) -> str:
    """The annotation in Python's notation if no value of another type is converted to it; otherwise empty.

    It consists of None, bool, int, float, str, literals and lists of them; a validator may take anything.
    """
    text = _certain(annotation)
    return text if len(text) <= MAX_CERTAIN_CHARS else ""


def _certain(annotation: Any, is_cached: bool = False) -> str:
    if annotation is None or annotation is type(None):
        return "None"
    if any(annotation is kind for kind in (bool, int, float, str)):
        return str(annotation.__name__)
    origin, arguments = get_origin(annotation), get_args(annotation)
    inside = is_cached or _is_cached(annotation)
    if origin is typing.Annotated:
        return _certain(arguments[0], inside) if all(isinstance(note, str) for note in arguments[1:]) else ""
    if origin in _LITERALS:
        plain = all(type(value) in (str, int, bool, type(None)) for value in arguments)
        members = [*members_of(annotation, is_cached=is_cached)]
        listed = whole_value_text(members, MAX_CERTAIN_CHARS) if plain else None
        return f"Literal{listed}" if listed else ""
    if origin is list:
        part = _certain(arguments[0], inside) if arguments else ""
        return f"list[{part}]" if part else ""
    if origin in _UNIONS:
        parts = [_certain(each, inside) for each in members_of(annotation, is_cached=is_cached)]
        return " | ".join(dict.fromkeys(parts)) if all(parts) else ""
    return ""


def _table_text(cls: type) -> tuple[str, str] | None:
    """The name of a table's class, and its explanation; None if it is none."""
    kind = table_kind(cls)
    if kind is None:
        return None
    if kind == "column":
        return cls.__name__, f"{cls.__name__} = list  # the values, in order"
    return cls.__name__, f"{cls.__name__} = list[dict]  # the rows; each has the columns' names as keys"


@lru_cache(maxsize=1_000)
def table_kind(cls: type) -> Literal["table", "column"] | None:
    """Whether a class is a table or a column of pandas, Polars or Arrow, which codeplan does not import."""
    for base in cls.__mro__:
        package = base.__module__.partition(".")[0]
        if found := _TABLES.get((package, base.__name__)):
            return found
    return None


_TABLES: Final[dict[tuple[str, str], Literal["table", "column"]]] = {
    ("pandas", "DataFrame"): "table",
    ("polars", "DataFrame"): "table",
    ("pyarrow", "Table"): "table",
    ("pandas", "Series"): "column",
    ("polars", "Series"): "column",
}


def _default_text(default: object) -> str:
    if isinstance(default, enum.Enum):
        default = default.value
    simple = default is None or isinstance(default, bool | int | float | str) or default in ([], {}, ())
    return value_text(default, _MAX_LITERAL) if simple else "..."


def describe(annotation: Any) -> str:
    """What ``Annotated`` says about a parameter in words: a text, ``Doc("…")`` or ``Field(description="…")``."""
    return _words(*getattr(annotation, "__metadata__", ()))


def _words(*notes: Any) -> str:
    """What the parts of an ``Annotated``, or a field of pydantic, say in words."""
    found = (n if isinstance(n, str) else getattr(n, a, None) for n in notes for a in ("documentation", "description"))
    return escape_surrogates(next((text for text in found if isinstance(text, str)), ""))


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
            name: (kind, _comment("" if is_required(cls, name, kind) else _NO_FIELD, describe(_unmarked(kind))))
            for name, kind in type_hints(cls).items()
        }
    if dataclasses.is_dataclass(cls):
        hints = type_hints(cls)
        return {
            f.name: (hints.get(f.name, object), _comment(_optional(f), describe(hints.get(f.name)) or _field_words(f)))
            for f in dataclasses.fields(cls)
            if f.init
        }
    models = getattr(cls, "model_fields", None)
    if isinstance(models, dict):
        return {
            name: (f.annotation, _comment("" if f.is_required() else _OPTIONAL, _words(f, *f.metadata)))
            for name, f in models.items()
        }
    return None


def _field_words(field: dataclasses.Field[Any]) -> str:
    """What the default of a field says, if it is pydantic's ``Field(description="…")``."""
    return "" if isinstance(field.default, str) else _words(field.default)


def _comment(optional: str, words: str) -> str:
    """The comment behind a field: what its author says about it, then whether it may be left out."""
    return f"  # {one_line(words, _MAX_COMMENT)}{optional.replace('  # ', '; ')}" if words else optional


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
    doc = escape_surrogates(inspect.cleandoc(vars(cls).get("__doc__") or "")).partition("\n\n")[0]
    return [] if doc.startswith(f"{cls.__name__}(") else [f"# {line}" for line in doc.splitlines()]


def _class_name(cls: type) -> str:
    """The class's name, or the type of plain data that represents it."""
    if issubclass(cls, Mapping):
        return "dict"
    if issubclass(cls, str | tuple | list | Callable):
        return cls.__name__
    return "list" if issubclass(cls, Iterable | AsyncIterable) else cls.__name__


_LITERAL_FORMS = (typing.Literal, typing_extensions.Literal)


def with_readable_dicts(annotation: Any) -> Any:
    """The annotation with each TypedDict replaced by one that pydantic reads. Dataclasses around one are kept."""
    return annotation if sys.version_info >= (3, 12) else _Rewriter().rewrite(annotation)


class _Rewriter:
    def __init__(self) -> None:
        self._rewritten: dict[type, Any] = {}
        self._visited: set[type] = set()

    def rewrite(self, annotation: Any) -> Any:
        if typing_extensions.is_typeddict(annotation):
            return self._dict(
                annotation, {n: (k, is_required(annotation, n, k)) for n, k in type_hints(annotation).items()}
            )
        if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
            return self._dataclass(annotation)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is None or not arguments or origin in _LITERAL_FORMS:
            return annotation
        if origin is typing.Annotated:
            return typing.Annotated[(self.rewrite(arguments[0]), *arguments[1:])]
        rewritten = tuple(self.rewrite(a) for a in arguments)
        if all(new is old for new, old in zip(rewritten, arguments, strict=True)):
            return annotation
        if origin is types.UnionType:
            return typing.Union[rewritten]  # noqa: UP007
        first, *more = rewritten
        return origin[rewritten if more else first]  # forms such as Unpack take no tuple

    def _dict(self, cls: type, fields: dict[str, tuple[Any, bool]]) -> Any:
        if cls in self._rewritten:
            return self._rewritten[cls]
        blank = {n: _marked(Any, required) for n, (_, required) in fields.items()}
        self._rewritten[cls] = new = typing_extensions.TypedDict(cls.__name__, blank)  # type: ignore[operator]
        new.__annotations__ = {  # only now: a field may contain the class itself
            n: _marked(self.rewrite(_unmarked(kind)), required) for n, (kind, required) in fields.items()
        }
        return new

    def _dataclass(self, cls: Any) -> Any:
        """The dataclass itself, unless one of its fields needs a rewritten dict."""
        hints = type_hints(cls)
        given = [f for f in dataclasses.fields(cls) if f.init]
        if cls in self._rewritten:  # it contains itself
            return _made_from(self._rewritten[cls], cls)
        if cls in self._visited:  # as above, and whether it must be rewritten is not known yet
            return cls
        self._visited.add(cls)
        if all(self.rewrite(hints[f.name]) is hints[f.name] for f in given):
            return cls
        missing = dataclasses.MISSING
        fields = {f.name: (hints[f.name], f.default is missing and f.default_factory is missing) for f in given}
        return _made_from(self._dict(cls, fields), cls)


def _made_from(fields: Any, cls: Any) -> Any:
    """The type of a dataclass that is made from the dict of its fields."""
    from pydantic import AfterValidator

    return typing.Annotated[fields, AfterValidator(lambda values: cls(**values))]


def _unmarked(kind: Any) -> Any:
    marked = get_origin(kind) in (typing_extensions.Required, typing_extensions.NotRequired)
    return get_args(kind)[0] if marked else kind


def _marked(kind: Any, required: bool) -> Any:
    return kind if required else typing_extensions.NotRequired[kind]


_MAX_PATH = 100
_MAX_GIVEN = 80
_MAX_SENTENCE = 300
_MISSING: Final = object()

_LIBRARY_FILES: Final = (sysconfig.get_path("stdlib"), "<frozen ", "<string>")
"""How the names of files in Python's own library begin, and of the code that it generates."""

_PACKAGES: Final = frozenset({"site-packages", "dist-packages"})
"""Folders of other packages, which may stand in that of Python's own library."""

Converter = Callable[[Any], Any]
"""Makes what a parameter takes of plain data. Raises: pydantic.ValidationError, or whatever the type's code raises."""


class UnsupportedType(Exception):
    """Plain data cannot represent a type, which the message names."""


def build_converter(annotation: Any) -> Converter | None:
    """The converter for an annotation; None if it takes everything.

    Raises: UnsupportedType: plain data cannot stand for the type.
    """
    if annotation is Any or annotation is object or isinstance(annotation, str | TypeVar):
        return None
    return partial(strict_adapter(annotation).validator.validate_python, by_alias=True, by_name=True)


def strict_adapter(annotation: Any) -> TypeAdapter[Any]:
    """Pydantic's adapter for an annotation; it refuses unknown keys of dataclasses and TypedDicts.

    Raises: UnsupportedType: plain data cannot stand for the type.
    """
    from pydantic import ConfigDict, PydanticSchemaGenerationError, PydanticUserError, TypeAdapter

    try:
        # pydantic takes a config for no bare class
        readable = NewType("readable", with_readable_dicts(annotation))  # type: ignore[misc]
        adapter: TypeAdapter[Any] = TypeAdapter(readable, config=ConfigDict(extra="forbid"))
        why = "a text would import a module" if _imports(adapter.core_schema) else ""
        if not why and not _takes_code(adapter.core_schema):
            return adapter
    except PydanticSchemaGenerationError:
        why = ""
    except PydanticUserError as error:
        undefined = error.code == "class-not-fully-defined"
        why = "a type in it is not defined" if undefined else error.message
    except Exception as error:  # an annotation can be anything, and pydantic runs code of its classes
        why = message_text(error)
    reason = f" ({one_line(why, _MAX_SENTENCE)})" if why else ""
    raise UnsupportedType(f"{one_line(inspect.formatannotation(annotation), _MAX_SENTENCE)}{reason}")


def _takes_code(schema: Any) -> bool:
    """Whether a schema of pydantic takes nothing but functions or classes, or None in place of one."""
    while schema["type"] in ("nullable", "default"):
        schema = schema["schema"]
    return schema["type"] in ("callable", "is-subclass")


def _imports(schema: Any) -> bool:
    """Whether a schema of pydantic has a part, however deep, that imports what a text names (``ImportString``)."""
    importer, waiting, seen = _importer(), [schema], set[int]()
    while waiting:
        part = waiting.pop()
        if part is importer:
            return True
        if isinstance(part, Mapping | list | tuple) and id(part) not in seen:
            seen.add(id(part))
            waiting += part.values() if isinstance(part, Mapping) else part
    return False


@lru_cache
def _importer() -> object:
    """Pydantic's function that imports what a text names."""
    from pydantic import ImportString, TypeAdapter

    schema: Any = TypeAdapter(ImportString).core_schema
    return schema["function"]["function"]


def convert_arguments(tool: str, converters: Mapping[str, Converter], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the function takes them.

    Raises: AgentError: one does not fit; one sentence with its path. The plan gets a TypeError, or a ValueError if the
    type fits. Any other exception: code of the user's annotations raised it, and it is no ValueError.
    """
    converted = dict(arguments)
    for name, value in arguments.items():
        if convert := converters.get(name):
            try:
                converted[name] = convert(value)
            except Exception as error:
                if is_users_own(error):
                    raise
                raise _misfit(tool, name, value, error) from None
    return converted


def is_users_own(error: Exception) -> bool:
    """Whether the user's own code failed, such as a validator in an annotation.

    Pydantic makes its own error of a ValueError or an AssertionError there. Anything else that passes through the
    user's code is a fault in it. What only pydantic and Python's own library raise is their refusal of the value.
    """
    import pydantic  # only after a failure: the import takes a part of a quick call's time

    if isinstance(error, pydantic.ValidationError):
        return False
    ours = (str(Path(pydantic.__file__).parent), str(Path(__file__).parent))
    files = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
    return not all(file.startswith(ours) or _is_pythons_own(file) for file in files)


def _is_pythons_own(file: str) -> bool:
    return file.startswith(_LIBRARY_FILES) and _PACKAGES.isdisjoint(Path(file).parts)


def misfit_reason(fault: Mapping[str, Any]) -> str:
    """What is wrong, by one of pydantic's errors: a validator's own message stands alone."""
    text: str = fault["msg"]
    return text.removeprefix("Value error, ") if fault["type"] == "value_error" else text


def _misfit(tool: str, parameter: str, value: object, error: Exception) -> AgentError:
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return _refusal(tool, parameter, failure_sentence(error), value)
    try:
        first, *others = error.errors(include_url=False, include_context=False)
    except ValueError:  # pydantic cannot write half of a surrogate pair
        return _refusal(tool, parameter, "it does not fit", value)
    path = parameter + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    found = _MISSING if first["type"] == "missing" else first["input"]
    kind = "TypeError" if first["type"].endswith("_type") else "ValueError"
    return _refusal(tool, path, misfit_reason(first), found, f", and {len(others)} more" if others else "", kind)


def _refusal(tool: str, path: str, reason: str, value: object, more: str = "", kind: str = "ValueError") -> AgentError:
    given = "" if value is _MISSING else f" (given: {value_text(value, _MAX_GIVEN)})"
    sentence = f"{tool} was called wrongly: {one_line(path, _MAX_PATH)}: {reason}{given}{more}"
    return AgentError(one_line(sentence, _MAX_SENTENCE), kind)
