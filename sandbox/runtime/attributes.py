"""Attribute access for plans, with an allow-list for each exact type, and ``str.format`` without attributes.

Everything else is refused. None of the lists leads to code, frames, modules, classes or files; methods that read the
machine's clock or random numbers are replaced (see ``clocks``). The str type's own parser splits templates and field
names.
"""

from __future__ import annotations

import calendar
import codecs
import csv
import datetime
import decimal
import difflib
import functools
import graphlib
import hashlib
import hmac
import http
import io
import ipaddress
import itertools
import pathlib
import random
import re
import statistics
import string
import sys
import textwrap
import time
import typing
import urllib.parse
import uuid
import zoneinfo
from _string import formatter_field_name_split, formatter_parser  # type: ignore[import-not-found]
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import Field
from fractions import Fraction
from functools import cache, partial
from json import JSONDecodeError
from pathlib import PurePath
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
)
from typing import Any, Final, TypeAlias
from xml.etree.ElementTree import ParseError

from codeplan.sandbox.runtime.arrays import Array
from codeplan.sandbox.runtime.classes import (
    BASE_TYPES,
    CLASS_MARK,
    TYPE_TEXTS,
    VISIBLE_TYPES,
    PlanType,
    ShownType,
    TextMethods,
    is_class,
    is_own_super,
    is_plan_class,
    is_plan_function,
    read_of_data,
    read_of_type,
    read_own,
    visible_type,
)
from codeplan.sandbox.runtime.guards import SizeGuard, set_name
from codeplan.sandbox.runtime.module_names import ALLOWED_MODULES, NO_FILES, split_names
from codeplan.sandbox.runtime.names import is_readable, is_reserved
from codeplan.sandbox.runtime.user_imports import is_from_admitted, read_admitted
from codeplan.untrusted.texts import with_article


def public_names(kind: type, *without: str) -> frozenset[str]:
    """Return the attributes of a type whose names have no underscore in front."""
    return frozenset(n for n in dir(kind) if not n.startswith("_") and n not in without)


_NAMED_TUPLE = split_names("_asdict _fields _make _replace count index")
_ONE_DIGEST = split_names("block_size copy digest digest_size hexdigest name update")
_DIGEST_SIZES = split_names("MAX_DIGEST_SIZE MAX_KEY_SIZE PERSON_SIZE SALT_SIZE")
_URL_PARTS = split_names("fragment geturl hostname netloc password path port query scheme username")
_CALENDAR = split_names(
    "firstweekday getfirstweekday itermonthdates itermonthdays itermonthdays2 itermonthdays3 itermonthdays4 "
    "iterweekdays monthdatescalendar monthdays2calendar monthdayscalendar setfirstweekday yeardatescalendar "
    "yeardays2calendar yeardayscalendar"
)
_TEXT_CALENDAR = _CALENDAR | split_names(
    "formatday formatmonth formatmonthname formatweek formatweekday formatweekheader formatyear"
)
_PATH = split_names(
    "anchor as_posix as_uri drive is_absolute is_relative_to joinpath match name parent parents parts relative_to root "
    "stem suffix suffixes with_name with_stem with_suffix"
)

DIALECT = split_names("delimiter doublequote escapechar lineterminator quotechar quoting skipinitialspace strict")

MODULE_ATTRIBUTES: dict[type, frozenset[str]] = {
    Array: split_names(
        "append byteswap count extend frombytes fromlist index insert itemsize pop remove reverse tobytes tolist "
        "typecode"
    ),
    graphlib.TopologicalSorter: split_names("add done get_ready is_active prepare static_order"),
    **{
        type(sample): frozenset(name for name in dir(sample) if not name.startswith("_"))
        for text in ("10.0.0.0", "::")
        for sample in (ipaddress.ip_address(text), ipaddress.ip_interface(text), ipaddress.ip_network(text))
    },
    ChainMap: split_names("clear copy get items keys maps new_child parents pop popitem setdefault update values"),
    Fraction: public_names(Fraction, "from_decimal", "from_float", "from_number"),
    calendar.Calendar: _CALENDAR,
    calendar.HTMLCalendar: _CALENDAR | split_names("formatday formatmonth formatmonthname formatweek formatyear"),
    calendar.TextCalendar: _TEXT_CALENDAR,
    type(csv.get_dialect("excel")): DIALECT,
    csv.DictReader: split_names("fieldnames line_num"),
    csv.DictWriter: split_names("fieldnames writeheader writerow writerows"),
    csv.Sniffer: split_names("has_header preferred sniff"),
    type(csv.reader([])): split_names("dialect line_num"),
    type(csv.writer(io.StringIO())): split_names("dialect writerow writerows"),
    datetime.date: public_names(datetime.date, "fromtimestamp", "today"),
    datetime.datetime: public_names(datetime.datetime, "now", "today", "utcnow"),
    datetime.time: public_names(datetime.time),
    datetime.timedelta: public_names(datetime.timedelta),
    datetime.timezone: public_names(datetime.timezone),
    type(datetime.date.min.isocalendar()): split_names("count index week weekday year"),
    decimal.DecimalTuple: _NAMED_TUPLE | split_names("digits exponent sign"),
    decimal.Context: public_names(decimal.Context, "clear_traps", "flags", "traps"),
    decimal.Decimal: public_names(decimal.Decimal),
    difflib.Differ: split_names("compare"),
    difflib.SequenceMatcher: split_names(
        "find_longest_match get_grouped_opcodes get_matching_blocks get_opcodes quick_ratio ratio real_quick_ratio "
        "set_seq1 set_seq2 set_seqs"
    ),
    difflib.Match: _NAMED_TUPLE | split_names("a b size"),
    functools._lru_cache_wrapper: split_names("cache_clear cache_info cache_parameters"),
    functools._CacheInfo: _NAMED_TUPLE | split_names("currsize hits maxsize misses"),
    hmac.HMAC: _ONE_DIGEST,
    http.HTTPMethod: split_names("description name value"),
    http.HTTPStatus: split_names("description name phrase value"),
    io.BytesIO: split_names(
        "close closed flush getvalue read read1 readable readinto readline readlines seek seekable tell truncate "
        "writable write writelines"
    ),
    io.StringIO: split_names(
        "close closed flush getvalue newlines read readable readline readlines seek seekable tell truncate writable "
        "write writelines"
    ),
    **dict.fromkeys((pathlib.PurePosixPath, pathlib.PureWindowsPath), _PATH | {"__fspath__"}),
    type(pathlib.PurePath("/").parents): split_names("count index"),
    random.Random: public_names(random.Random, "VERSION"),
    re.RegexFlag: split_names("name value"),
    statistics.LinearRegression: _NAMED_TUPLE | split_names("intercept slope"),
    statistics.NormalDist: public_names(statistics.NormalDist),
    string.Template: split_names("get_identifiers is_valid safe_substitute substitute template"),
    textwrap.TextWrapper: split_names("fill wrap"),
    time.struct_time: public_names(time.struct_time, "n_fields", "n_sequence_fields", "n_unnamed_fields"),
    urllib.parse.DefragResult: _NAMED_TUPLE | split_names("fragment geturl url"),
    urllib.parse.DefragResultBytes: _NAMED_TUPLE | split_names("fragment geturl url"),
    urllib.parse.ParseResult: _NAMED_TUPLE | _URL_PARTS | {"params"},
    urllib.parse.ParseResultBytes: _NAMED_TUPLE | _URL_PARTS | {"params"},
    urllib.parse.SplitResult: _NAMED_TUPLE | _URL_PARTS,
    urllib.parse.SplitResultBytes: _NAMED_TUPLE | _URL_PARTS,
    uuid.UUID: public_names(uuid.UUID, "is_safe"),
    zoneinfo.ZoneInfo: split_names("dst key tzname utcoffset"),
    type(sys.float_info): public_names(type(sys.float_info), "n_fields", "n_sequence_fields", "n_unnamed_fields"),
    type(sys.hash_info): public_names(type(sys.hash_info), "n_fields", "n_sequence_fields", "n_unnamed_fields"),
    type(sys.int_info): public_names(type(sys.int_info), "n_fields", "n_sequence_fields", "n_unnamed_fields"),
    type(sys.version_info): split_names("count index major micro minor releaselevel serial"),
    **{kind: split_names("name value") for kind in {type(calendar.MONDAY)} - {int}},
    **{type(hashlib.new(name)): _ONE_DIGEST for name in hashlib.algorithms_guaranteed},
    **dict.fromkeys((hashlib.blake2b, hashlib.blake2s), _ONE_DIGEST | _DIGEST_SIZES),
}
"""Readable attributes of values by exact type."""

_DECIMAL, _DATE = MODULE_ATTRIBUTES[decimal.Decimal], MODULE_ATTRIBUTES[datetime.date]

MODULE_TYPE_ATTRIBUTES: dict[type, frozenset[str]] = {
    Fraction: split_names("from_decimal from_float limit_denominator"),
    datetime.date: _DATE | {"fromtimestamp"},
    datetime.datetime: MODULE_ATTRIBUTES[datetime.datetime],
    datetime.time: MODULE_ATTRIBUTES[datetime.time],
    datetime.timedelta: MODULE_ATTRIBUTES[datetime.timedelta],
    datetime.timezone: MODULE_ATTRIBUTES[datetime.timezone],
    decimal.Decimal: _DECIMAL,
    **{kind: frozenset(kind.__members__) for kind in (http.HTTPMethod, http.HTTPStatus)},
    **dict.fromkeys((hashlib.blake2b, hashlib.blake2s), _DIGEST_SIZES),
    itertools.chain: frozenset({"from_iterable"}),
    statistics.NormalDist: frozenset({"from_samples"}),
    urllib.parse.ParseResult: frozenset({"_fields", "_make"}),
    urllib.parse.SplitResult: frozenset({"_fields", "_make"}),
}
"""Readable attributes of types."""

CLASS_KINDS: frozenset[type] = frozenset({type, type(Fraction)})
"""The types of types whose attributes are looked up by the tables above."""

_POSITION = split_names("colno lineno msg pos")

ERROR_ATTRIBUTES: dict[type[Exception], frozenset[str]] = {
    AttributeError: frozenset({"name"}),
    ImportError: split_names("msg name path"),
    JSONDecodeError: _POSITION | {"doc"},
    NameError: frozenset({"name"}),
    ParseError: split_names("code position"),
    OSError: split_names("errno filename filename2 strerror"),
    StopIteration: frozenset({"value"}),
    SyntaxError: split_names("end_lineno end_offset filename lineno msg offset text"),
    UnicodeDecodeError: split_names("encoding end object reason start"),
    UnicodeEncodeError: split_names("encoding end object reason start"),
    UnicodeTranslateError: split_names("encoding end object reason start"),
    re.error: _POSITION | {"pattern"},
}
"""Readable attributes of exceptions, also of subclasses: plain data. ``obj`` and tracebacks are none."""

VISIBLE_TYPES |= {
    Array,
    re.Match,
    re.Pattern,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
}
_OF_ITERTOOLS = (getattr(itertools, name) for name in ALLOWED_MODULES["itertools"])
VISIBLE_TYPES |= {kind for kind in _OF_ITERTOOLS if isinstance(kind, type)}
VISIBLE_TYPES |= {bytearray, datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone}
VISIBLE_TYPES |= {pathlib.PurePosixPath, pathlib.PureWindowsPath, decimal.Decimal, Fraction, uuid.UUID, ChainMap}


MAX_NESTING = 2
"""A format spec may contain fields; theirs may not."""

CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


Reader: TypeAlias = Callable[[Any, str], Any]
"""Reads an attribute as a plan does. Raises: AttributeError."""


def format_text(
    size_guard: SizeGuard, template: str, args: tuple[Any, ...] | None, named: Any, read: Reader | None = None
) -> str:
    """``template.format(*args, **named)``, or ``template.format_map(named)`` if ``args`` is None.

    Raises: ValueError: a field reads an attribute, and ``read`` is None; otherwise what ``str.format`` raises.
    """
    return _TemplateFields(size_guard, args, named, read).fill(template, MAX_NESTING)


class _TemplateFields:
    """Fills the fields of one template."""

    def __init__(self, size_guard: SizeGuard, args: tuple[Any, ...] | None, named: Any, read: Reader | None) -> None:
        self._size_guard, self._args, self._named, self._read = size_guard, args, named, read
        self._automatic: bool | None = None
        self._next = 0

    def fill(self, template: str, nesting: int) -> str:
        """Return the template with its fields filled."""
        if nesting <= 0:
            raise ValueError("Max string recursion exceeded")
        parts: list[str] = []
        for literal, name, spec, conversion in formatter_parser(template):
            parts.append(literal)
            if name is not None:
                value = _convert(self._value(name), conversion)
                parts.append(self._size_guard.format(value, self.fill(spec, nesting - 1) if "{" in spec else spec))
        return "".join(parts)

    def _value(self, name: str) -> Any:
        first, rest = formatter_field_name_split(name)
        value = self._named[first] if type(first) is str and first else self._positional(first)
        for is_attribute, key in rest:
            if is_attribute and self._read is None:
                raise ValueError(f"format looks up no attributes here ({name!r}); use an f-string")
            value = self._read(value, str(key)) if is_attribute and self._read is not None else value[key]
        return value

    def _positional(self, index: int | str) -> Any:
        """Return the argument with this number, or the next one if the number is empty."""
        automatic = index == ""
        if self._automatic is None:
            self._automatic = automatic
        if self._automatic is not automatic:
            ways = ["manual field specification", "automatic field numbering"]
            raise ValueError("cannot switch from {} to {}".format(*ways[:: 1 if automatic else -1]))
        if automatic:
            index, self._next = self._next, self._next + 1
        if self._args is None:
            raise ValueError("Format string contains positional fields")
        try:
            return self._args[int(index)]
        except IndexError:
            raise IndexError(f"Replacement index {index} out of range for positional args tuple") from None


def _convert(value: Any, conversion: str | None) -> Any:
    if conversion is None:
        return value
    if conversion not in CONVERSIONS:
        shown = conversion if " " < conversion < "\x7f" else f"\\x{ord(conversion):x}"
        raise ValueError(f"Unknown conversion specifier {shown}")
    return CONVERSIONS[conversion](value)


_MISSING = object()


_GUARDED_TEXT = ("format", "format_map", "encode", "ljust", "rjust", "center", "zfill", "expandtabs")
"""str methods that are replaced: they look up attributes, load codecs or pad to any width."""

_GUARDED_BYTES = ("decode", "ljust", "rjust", "center", "zfill", "expandtabs")

ALLOWED_ATTRIBUTES: dict[type, frozenset[str]] = {
    str: public_names(str, *_GUARDED_TEXT),
    bytes: public_names(bytes, *_GUARDED_BYTES),
    list: public_names(list),
    dict: public_names(dict),
    tuple: public_names(tuple),
    set: public_names(set),
    frozenset: public_names(frozenset),
    bytearray: public_names(bytearray, *_GUARDED_BYTES),
    int: public_names(int, "from_bytes"),
    bool: public_names(bool, "from_bytes"),
    float: public_names(float),
    complex: frozenset({"real", "imag", "conjugate"}),
    range: frozenset({"start", "stop", "step", "count", "index"}),
    slice: frozenset({"start", "stop", "step", "indices"}),
    ExitStack: frozenset({"callback", "close", "enter_context", "pop_all", "push"}),
    Field: split_names("compare default default_factory hash init kw_only name repr type"),
    property: frozenset({"deleter", "getter", "setter"}),
    GeneratorType: frozenset({"close", "send", "throw"}),
    CoroutineType: frozenset({"__await__", "close"}),
    AsyncGeneratorType: frozenset({"aclose", "asend", "athrow"}),
    MappingProxyType: frozenset({"copy", "get", "items", "keys", "values"}),
    type({}.items()): frozenset({"isdisjoint"}),
    type({}.keys()): frozenset({"isdisjoint"}),
    Counter: public_names(Counter),
    defaultdict: public_names(defaultdict),
    OrderedDict: public_names(OrderedDict),
    deque: public_names(deque),
    re.Pattern: split_names("findall finditer flags fullmatch groups match pattern search split sub subn"),
    re.Match: split_names("end endpos expand group groupdict groups lastgroup lastindex pos re regs span start string"),
    SystemExit: frozenset({"args", "code"}),
    KeyboardInterrupt: frozenset({"args"}),
    GeneratorExit: frozenset({"args"}),
    **MODULE_ATTRIBUTES,
}
"""Readable attributes by exact type. None leads to code, frames, modules, classes or files."""

ALLOWED_TYPE_ATTRIBUTES: dict[type, frozenset[str]] = {
    str: ALLOWED_ATTRIBUTES[str],
    bytes: ALLOWED_ATTRIBUTES[bytes],
    bytearray: ALLOWED_ATTRIBUTES[bytearray],
    int: ALLOWED_ATTRIBUTES[int],
    float: ALLOWED_ATTRIBUTES[float],
    list: ALLOWED_ATTRIBUTES[list],
    dict: ALLOWED_ATTRIBUTES[dict],
    tuple: ALLOWED_ATTRIBUTES[tuple],
    set: ALLOWED_ATTRIBUTES[set],
    frozenset: ALLOWED_ATTRIBUTES[frozenset],
    Counter: ALLOWED_ATTRIBUTES[Counter],
    defaultdict: ALLOWED_ATTRIBUTES[defaultdict],
    deque: ALLOWED_ATTRIBUTES[deque],
    OrderedDict: ALLOWED_ATTRIBUTES[OrderedDict],
    **MODULE_TYPE_ATTRIBUTES,
}
"""Readable attributes of types, as in ``map(str.strip, lines)`` and ``dict.fromkeys(names)``."""

_QUALIFIED_NAMES: dict[type, str] = {
    kind: f"{kind.__module__}.{kind.__name__}"
    for kind in (
        *(defaultdict, OrderedDict, deque, re.Pattern, re.Match, decimal.Decimal, type(sys.version_info)),
        functools._lru_cache_wrapper,
        *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
    )
}
"""Python's names for types that are written in C and belong to a module."""

_CODEC_NAMES = (
    "utf-8 utf-8-sig utf-7 utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be ascii latin-1 iso8859-2 iso8859-3 "
    "iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-11 iso8859-13 iso8859-14 "
    "iso8859-15 iso8859-16 cp037 cp437 cp500 cp737 cp775 cp850 cp852 cp855 cp857 cp858 cp860 cp861 cp862 cp863 cp865 "
    "cp866 cp874 cp1140 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 koi8-r koi8-u mac-roman "
    "unicode-escape raw-unicode-escape"
)


@cache
def text_codecs() -> frozenset[str]:
    """Load the codecs that plans may use, and return their names. Call it once in a zygote, before its lockdown."""
    return frozenset(codecs.lookup(name).name for name in _CODEC_NAMES.split())


class ModuleFacade:
    """A module as plans see it: a name and a fixed table of members."""

    __slots__ = ("members", "name")

    def __init__(self, name: str, members: dict[str, object]) -> None:
        self.name, self.members = name, members

    def __repr__(self) -> str:
        return f"<module {self.name!r} (built-in)>"


ModuleFacade.__name__ = "module"  # the name in Python's own error messages


class AgentProxy:
    """The value that plans know as ``agent``. It holds no data: the attribute guard asks the host."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<agent>"


AgentProxy.__name__ = "Agent"


def list_names(value: Any) -> list[str]:
    """Return the names of the attributes of a value that plans may read."""
    kind = type(value)
    if kind is ModuleFacade:
        return sorted(value.members)
    allowed = ALLOWED_TYPE_ATTRIBUTES.get(value, ()) if is_class(value) else ALLOWED_ATTRIBUTES.get(kind, ())
    if is_plan_class(value if is_class(value) else kind):
        return [name for name in dir(value) if is_readable(name)]
    return sorted(allowed)


AgentReader = Callable[[str], object]
"""Looks up a name of the agent. Raises AttributeError if the agent lacks it."""


ClassMethods = dict[type, dict[str, Callable[..., object]]]
"""Functions in place of class methods, by type and name."""


def make_getattr(
    read_agent: AgentReader, size_guard: SizeGuard, replaced: ClassMethods, guard_hash: Callable[[Any], Any]
) -> Callable[..., Any]:
    """Return the guard for ``value.name``. It raises AttributeError for everything that is not allowed.

    ``replaced`` are class methods that read the machine's clock in Python. ``guard_hash`` makes of ``x.__hash__`` a
    method that tells no address.
    """
    replaced = {**replaced, **_sized_class_methods(size_guard)}
    texts = guarded_text_methods(size_guard, lambda value, name: read_named(value, name))  # it is defined below
    allowed = ALLOWED_ATTRIBUTES

    def read_hash(value: Any) -> Any:
        own = CLASS_MARK in type(value).__dict__
        return read_own(value, "__hash__", texts) if own else _rare_attribute(value, "__hash__", texts)

    def guarded_getattr(value: Any, name: str) -> Any:
        kind = type(value)
        names = allowed.get(kind)
        if names is not None and name in names:
            return getattr(value, name)
        if name == "__hash__":
            return guard_hash(read_hash(value))
        if kind is AgentProxy:
            return read_agent(name)
        if kind is ModuleFacade:
            return _module_member(value, name)
        if CLASS_MARK in kind.__dict__:
            return read_own(value, name, texts)
        own = replaced.get(value if kind is type else kind)
        if own is not None and name in own:
            return own[name]
        return _rare_attribute(value, name, texts)

    def read_named(value: Any, name: str) -> Any:
        if not is_readable(name):
            raise AttributeError(f"'{name}' is private; use public methods and attributes only")
        return guarded_getattr(value, name)

    return guarded_getattr


def _sized_class_methods(size_guard: SizeGuard) -> ClassMethods:
    """Return ``from_bytes`` for integers of bounded size."""

    def bounded(kind: type[int]) -> Callable[..., object]:
        def from_bytes(bytes: Any, *args: Any, **named: Any) -> int:
            if hasattr(type(bytes), "__len__"):
                size_guard.check_bits(8 * len(bytes))
            return kind.from_bytes(bytes, *args, **named)

        return set_name("from_bytes", from_bytes)

    return {kind: {"from_bytes": bounded(kind)} for kind in (int, bool)}


def _module_member(module: ModuleFacade, name: str) -> object:
    value = module.members.get(name, _MISSING)
    if value is _MISSING:
        raise AttributeError(
            f"module '{module.name}' has no attribute '{name}' here; it has: {', '.join(sorted(module.members))}"
        )
    return value


READERS: Final[dict[type, Callable[[Any, str], Any]]] = {
    ShownType: ShownType.read,
    Field: lambda field, name: MappingProxyType(dict(field.metadata)) if name == "metadata" else None,
}
"""What a plan gets in place of an attribute, by the owner's type; None leaves it to the other rules."""


def _rare_attribute(value: Any, name: str, texts: TextMethods) -> object:
    kind = type(value)
    if kind in READERS and (part := READERS[kind](value, name)) is not None:
        return part
    if name in texts.get(kind, ()):
        return partial(texts[kind][name], value)
    if kind in _CALLABLES:
        return _function_attribute(value, name)
    if not name.startswith("_") and is_from_admitted(value):
        return read_admitted(value, name)
    if is_class(value):
        return _attribute_of_type(value, name, texts)
    if kind in ALIASES and (name in _OF_ALIASES or name in TYPE_TEXTS):
        part = getattr(value, name)
        return PlanType if part is type else part
    origin: Any = getattr(value, "__origin__", None) if kind in ALIASES else None
    if is_class(origin) and not is_reserved(name):
        return _attribute_of_type(origin, name, texts)
    if kind is super and is_own_super(value):
        return read_own(value, name, texts)
    if issubclass(kind, Exception) and (name in _EXCEPTION_ATTRIBUTES or _is_plain_of_error(kind, name)):
        return read_own(value, name, texts)
    if name == "__class__":
        return visible_type(value)
    if name == "__doc__":
        return value.__doc__ if kind is property else kind.__doc__
    if name.startswith("__") and (method := read_of_data(value, name)) is not None:
        return method
    hint = "; use str() for its message" if isinstance(value, BaseException) else ""
    if isinstance(value, PurePath):
        hint = f"; {NO_FILES}"
    if kind is dict and name in value:
        hint = f"; it has a key of this name: write ['{name}']"
    raise AttributeError(f"'{_QUALIFIED_NAMES.get(kind, kind.__name__)}' object has no attribute '{name}'{hint}")


_OF_ALIASES = split_names("__args__ __metadata__ __origin__ __parameters__")
ALIASES = frozenset(
    type(kind)
    for kind in (
        *(list[int], int | str, typing.List[int], typing.Literal[1], typing.Callable[[], int]),  # noqa: UP006
        *(typing.Annotated[int, 1], typing.Union[int, typing.TypeVar("T")]),  # noqa: UP007
    )
)
"""The types of ``list[int]``, ``int | str`` and their like, whose parts a plan gave."""

_EXCEPTION_ATTRIBUTES = split_names(
    "__cause__ __context__ __notes__ __suppress_context__ add_note args derive exceptions message split subgroup "
    "with_traceback"
)
"""Attributes of Python's exceptions. The object to which an AttributeError belongs is not among them."""

_CALLABLES = (FunctionType, MethodType, BuiltinFunctionType, functools._lru_cache_wrapper)


def _function_attribute(value: Any, name: str) -> object:
    """Read a function's name and text, and what a plan has written to its own function, also of a cached one."""
    if name in TYPE_TEXTS:
        return getattr(value, name)
    if name == "__class__":
        return visible_type(value)
    function = value.__func__ if type(value) is MethodType else value
    if type(value) is functools._lru_cache_wrapper and is_plan_function(value.__wrapped__):
        function = value.__wrapped__
        if name == "__wrapped__":
            return function
    if is_plan_function(function) and name in function.__dict__:
        return function.__dict__[name]
    if is_plan_function(function) and name in _OF_FUNCTIONS:
        part = getattr(function, name)
        return dict(part) if name == "__kwdefaults__" and part is not None else part
    kind = type(value)
    raise AttributeError(f"'{_QUALIFIED_NAMES.get(kind, kind.__name__)}' object has no attribute '{name}'")


_OF_FUNCTIONS = split_names("__annotations__ __defaults__ __kwdefaults__")


def _attribute_of_type(kind: type, name: str, texts: TextMethods) -> object:
    if CLASS_MARK in kind.__dict__:
        return read_own(kind, name, texts)
    if name in ALLOWED_TYPE_ATTRIBUTES.get(kind, ()):
        return _unbound_method(kind, name)
    if name in texts.get(kind, ()):
        return texts[kind][name]
    if issubclass(kind, csv.Dialect) and name in DIALECT:  # what a Sniffer finds
        return getattr(kind, name)
    if kind in BASE_TYPES or issubclass(kind, Exception) or name in TYPE_TEXTS:
        return read_of_type(kind, name, texts)
    raise AttributeError(f"type object '{_QUALIFIED_NAMES.get(kind, kind.__name__)}' has no attribute '{name}'")


def _is_plain_of_error(kind: type, name: str) -> bool:
    return any(name in names and issubclass(kind, error) for error, names in ERROR_ATTRIBUTES.items())


def _unbound_method(kind: type, name: str) -> object:
    """Return a method of a type. One that is written in Python checks ``self``, since it would accept any object."""
    method = getattr(kind, name)
    if type(method) is not FunctionType:
        return method

    def exact(self: object, /, *args: Any, **named: Any) -> object:
        return method(_require_exact_type(self, kind), *args, **named)

    return set_name(f"{kind.__name__}.{name}", exact)


def guarded_text_methods(size_guard: SizeGuard, read: Reader) -> TextMethods:
    """Return the replaced methods of texts, as functions of the object and the arguments."""

    def format_(text: object, /, *args: Any, **named: Any) -> str:
        return format_text(size_guard, _require_exact_type(text, str), args, named, read)

    return {
        str: {
            "format": set_name("format", format_),
            "format_map": _format_map(size_guard, read),
            "encode": _restrict_codecs(str.encode),
            **_padding_methods(str, size_guard),
        },
        bytes: {"decode": _restrict_codecs(bytes.decode), **_padding_methods(bytes, size_guard)},
        bytearray: {"decode": _restrict_codecs(bytearray.decode), **_padding_methods(bytearray, size_guard)},
    }


def _format_map(size_guard: SizeGuard, read: Reader) -> Callable[..., object]:
    def format_map(text: object, /, *args: Any, **named: Any) -> object:
        if named or len(args) != 1:
            return "".format_map(*args, **named)  # raises Python's own TypeError
        return format_text(size_guard, _require_exact_type(text, str), None, args[0], read)

    return set_name("format_map", format_map)


def _padding_methods(kind: type, size_guard: SizeGuard) -> dict[str, Callable[..., object]]:
    def bounded(name: str) -> Callable[..., object]:
        method = getattr(kind, name)

        def pad(*args: object, **named: object) -> object:
            for width in (*args[1:2], *named.values()):
                size_guard.check_width(width)
            return method(*args, **named)

        return set_name(name, pad)

    return {name: bounded(name) for name in ("ljust", "rjust", "center", "zfill", "expandtabs")}


def _restrict_codecs(method: Callable[..., object]) -> Callable[..., object]:
    """Wrap ``str.encode`` or ``bytes.decode`` so that it accepts only codecs that are already loaded."""

    def restricted(*args: object, **named: object) -> object:
        for encoding in (*args[1:2], named.get("encoding")):
            if isinstance(encoding, str) and codecs.lookup(encoding).name not in text_codecs():
                raise LookupError(f"unknown encoding: {encoding}")
        return method(*args, **named)

    return set_name(method.__name__, restricted)


def _require_exact_type(value: Any, kind: type) -> Any:
    """Return a value of this type, and of a plan's own text what it holds."""
    if kind is str and issubclass(type(value), str):
        return str.__str__(value)
    if type(value) is not kind:
        raise TypeError(f"{with_article(kind.__name__)} is needed here, not {with_article(type(value).__name__)}")
    return value
