"""Packs what a tool returned: any Python object that plain data can stand for.

Each value is packed in one walk, with the class's writer found once.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections import UserString
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    Set,
    ValuesView,
)
from enum import Enum
from functools import cached_property, lru_cache
from numbers import Integral, Real
from operator import attrgetter
from types import NoneType
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from codeplan.plain_data import (
    MAX_VALUES,
    NotPlainData,
    Packed,
    Packer,
    join_items,
    pack_float,
    pack_text,
    pack_whole,
    unpack,
)
from codeplan.tools.arguments import table_kind, with_readable_dicts
from codeplan.untrusted.texts import one_line, with_article
from codeplan.untrusted.values import value_text

_VIEWS: Final = (KeysView, ItemsView, ValuesView)  # in the order of their dict
_AS_IS: Final = frozenset({NoneType, bool})
_SMALL: Final = frozenset({NoneType, bool, int, float})

MAX_RESULT_BYTES: Final = 400_000
"""Maximum size of a result as JSON, in bytes: an observation has room for it."""


def pack_result(value: object) -> Packed:
    """The packed plain data of a value.

    Sets and other collections become lists; dataclasses and models become dicts, members of enums their values, times
    and paths texts, tables lists of rows.

    Raises: NotPlainData: plain data cannot stand for it, or it is too large for a prompt and a trace.
    """
    packed = value if type(value) in _AS_IS else _ResultPacker().pack(value, 0)
    if type(packed) not in _SMALL and (size := len(msgspec.json.encode(packed))) > MAX_RESULT_BYTES:
        raise NotPlainData(f"{size:,} bytes of data, more than {MAX_RESULT_BYTES:,}")
    return packed


class _ResultPacker(Packer):
    def pack(self, value: Any, depth: int) -> Packed:
        """Pack a value that is counted already."""
        return _writer_of(value.__class__)(self, value, depth)

    def write_as_is(self, value: Any, depth: int) -> Any:
        return value

    def write_whole(self, value: Any, depth: int) -> Packed:
        return pack_whole(int(value))

    def write_float(self, value: Any, depth: int) -> Packed:
        return pack_float(float(value))

    def write_text(self, value: Any, depth: int) -> Packed:
        return pack_text(str.__str__(value))

    def write_list(self, values: Any, depth: int) -> list[Packed]:
        parts = tuple(values)  # reading a part may run the tool's code, which may change the list
        return self.pack_list(parts, len(parts), depth)

    def write_tuple(self, values: Any, depth: int) -> Packed:
        return {"$tuple": self.write_list(values, depth)}

    def write_iterable(self, values: Iterable[Any], depth: int) -> list[Packed]:
        """Write each value before the next is made: an iterator may have no end, or change what it has given."""
        return [self._count_and_pack(v, depth + 1) for v in values]

    def write_odd_tuple(self, values: Iterable[Any], depth: int) -> Packed:
        return {"$tuple": self.write_iterable(values, depth)}

    def write_set(self, values: Iterable[Any], depth: int) -> list[Packed]:
        return _in_order(self.write_iterable(values, depth))

    def write_dict(self, value: dict[Any, Any], depth: int) -> dict[str, Packed]:
        items = tuple(value.items())
        return self.pack_dict(items, len(items), depth)

    def write_mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Packed]:
        depth += 1
        return join_items([(self._count_and_pack(k, depth), self._count_and_pack(v, depth)) for k, v in value.items()])

    def write_member(self, value: Any, depth: int) -> Packed:
        return self._count_and_pack(value.value, depth + 1)

    def write_model(self, value: Any, depth: int) -> Packed:
        return self._count_and_pack(value.model_dump(), depth + 1)

    def write_other(self, value: Any, depth: int) -> Packed:
        """The plain data for a time, a path, bytes and the like."""
        from pydantic_core import PydanticSerializationError, to_jsonable_python

        if isinstance(value, bytes | bytearray) and not _is_text(value):
            raise NotPlainData("bytes that are not text in UTF-8; return them as base64 text, or the path of a file")
        if hasattr(value, "dtype") and isinstance(size := getattr(value, "size", None), int):  # NumPy's, and the like
            if size > self.left:
                raise NotPlainData(f"more than {MAX_VALUES:,} values")
            numbers: Any = value
            return self._count_and_pack(numbers.tolist(), depth + 1)
        try:
            return self._count_and_pack(to_jsonable_python(value), depth + 1)
        except (PydanticSerializationError, ValueError):
            raise NotPlainData(f"a value of the type {full_type_name(value)}, which is not plain data") from None

    def write_table(self, value: Any, depth: int) -> list[Packed]:
        """The rows of a table as dicts, in their order. An index of pandas that has names becomes columns."""
        if math.prod(value.shape) > self.left:
            raise NotPlainData(f"a table of {value.shape[0]:,} x {value.shape[1]:,}, more than {MAX_VALUES:,} values")
        return self.write_iterable(_rows(value), depth)

    def write_column(self, value: Any, depth: int) -> list[Packed]:
        """The values of a column, in their order."""
        if len(value) > self.left:
            raise NotPlainData(f"more than {MAX_VALUES:,} values")
        values = value.to_list()
        return self.write_iterable(map(_cell, values) if _is_of_pandas(type(value)) else values, depth)

    def _count_and_pack(self, value: Any, depth: int) -> Packed:
        self.count(1, depth)
        return value if type(value) in _AS_IS else self.pack(value, depth)


def _is_text(value: bytes | bytearray) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _rows(table: Any) -> Iterable[dict[Any, Any]]:
    """The rows of a table of pandas, Polars or Arrow."""
    if hasattr(table, "to_pylist"):
        return table.to_pylist()  # type: ignore[no-any-return]
    if hasattr(table, "to_dicts"):
        return table.to_dicts()  # type: ignore[no-any-return]
    if any(name is not None for name in table.index.names):
        table = table.reset_index()
    return ({key: _cell(cell) for key, cell in row.items()} for row in table.to_dict("records"))


def _cell(value: Any) -> Any:
    """A cell of pandas, which has NaN in place of values that are missing."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _is_of_pandas(cls: type) -> bool:
    return any(base.__module__.partition(".")[0] == "pandas" for base in cls.__mro__)


_Writer: TypeAlias = Callable[[_ResultPacker, Any, int], Any]

_EXACT_WRITERS: Final[dict[type, _Writer]] = {
    NoneType: _ResultPacker.write_as_is,
    bool: _ResultPacker.write_as_is,
    str: _ResultPacker.write_text,
    int: _ResultPacker.write_whole,
    float: _ResultPacker.write_float,
    list: _ResultPacker.write_list,
    tuple: _ResultPacker.write_tuple,
    dict: _ResultPacker.write_dict,
}
_ABSTRACT_WRITERS: Final[tuple[tuple[Any, _Writer], ...]] = (
    (Enum, _ResultPacker.write_member),
    (str, _ResultPacker.write_text),
    # NumPy's durations are Integral; tolist makes most of them a timedelta
    (Integral, lambda w, value, depth: w.pack(value.tolist() if hasattr(value, "dtype") else int(value), depth)),
    (Real, _ResultPacker.write_float),
    (tuple, _ResultPacker.write_odd_tuple),
    (Mapping, _ResultPacker.write_mapping),
    (_VIEWS, _ResultPacker.write_iterable),
    (Set, _ResultPacker.write_set),
    ((bytes, bytearray), _ResultPacker.write_other),
    (UserString, lambda writer, value, depth: pack_text(str(value))),
    ((Iterator, Sequence), _ResultPacker.write_iterable),
)
"""The first class that fits decides."""


@lru_cache(maxsize=1_000)
def _writer_of(cls: type) -> _Writer:
    """How values of a class are written. Found once for a class: the checks take microseconds."""
    if exact := _EXACT_WRITERS.get(cls):
        return exact
    if cls.__name__ in ("NAType", "NaTType") and _is_of_pandas(cls):
        return lambda writer, value, depth: None
    if kind := table_kind(cls):
        return _ResultPacker.write_table if kind == "table" else _ResultPacker.write_column
    if found := next((write for kind, write in _ABSTRACT_WRITERS if issubclass(cls, kind)), None):
        return found
    if dataclasses.is_dataclass(cls):
        return _dataclass_writer(tuple(f.name for f in dataclasses.fields(cls)))
    from pydantic import BaseModel

    return _ResultPacker.write_model if issubclass(cls, BaseModel) else _ResultPacker.write_other


def _dataclass_writer(names: tuple[str, ...]) -> _Writer:
    """The writer of a dataclass with these fields. They are read in one go."""
    if len(names) < 2:
        return lambda writer, value, depth: writer.write_dict({name: getattr(value, name) for name in names}, depth)
    read = attrgetter(*names)

    def write(writer: _ResultPacker, value: Any, depth: int) -> dict[str, Any]:
        depth += 1
        writer.count(2 * len(names), depth)
        return {
            name: v if type(v) in _AS_IS else writer.pack(v, depth) for name, v in zip(names, read(value), strict=True)
        }

    return write


def _in_order(values: list[Any]) -> list[Any]:
    """The elements of a set, which has no order of its own, in one that is always the same."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=json.dumps)


class ResultType:
    """The type that a tool declares for its results, checked with pydantic, strictly.

    Iterators, and types that pydantic cannot check, are left alone.
    """

    def __init__(self, annotation: Any) -> None:
        self._annotation = annotation

    @classmethod
    def misfit_of(cls, annotation: Any) -> Callable[[Any], str] | None:
        """``misfit`` for this annotation; None if it declares nothing."""
        open_kinds = isinstance(annotation, str | TypeVar) or annotation in (Any, object)
        return None if open_kinds else cls(type(None) if annotation is None else annotation).misfit

    def misfit(self, value: Any) -> str:
        """What a result is that does not have the type, as in "a str"; empty if it has it, or as data would have it:
        a dict for a dataclass, a whole number of NumPy for an int.
        """
        if type(value) is self._annotation or isinstance(value, Iterator | AsyncIterator | Awaitable):
            return ""
        try:
            return self._misfit(value) if self._validator else ""
        except Exception:  # pydantic runs code of the user's classes
            return ""

    def _misfit(self, value: Any) -> str:
        from pydantic import ValidationError

        try:
            self._validator.validate_python(value, strict=True)
            return ""
        except ValidationError as error:
            fault = error.errors(include_url=False, include_context=False)[0]
        try:
            self._validator.validate_json(json.dumps(unpack(pack_result(value))), strict=True)
        except (ValidationError, NotPlainData, TypeError, ValueError):
            keys = (value_text(key, _MAX_PATH) for key in fault["loc"] if isinstance(key, int | str))
            part, path = fault["input"], "".join(f"[{key}]" for key in keys)
            inner = f" in which {one_line(path, _MAX_PATH)} is {type_words(part)}" if path else ""
            return f"{type_words(value)}{inner}"
        return ""

    @cached_property
    def _validator(self) -> Any:
        """Pydantic's validator; None if it cannot check the type. Built with the first result that needs it."""
        from pydantic import TypeAdapter

        try:
            return TypeAdapter(with_readable_dicts(self._annotation)).validator
        except Exception:  # an annotation can be anything, and pydantic runs code of its classes
            return None


_MAX_PATH: Final = 100


def type_words(value: object) -> str:
    """The value's type as a sentence names it: *a list*, *None*."""
    return "None" if value is None else with_article(type(value).__name__)


def full_type_name(value: object) -> str:
    """The name of the value's class, with its module unless that is Python's own or the program."""
    cls = type(value)
    return cls.__qualname__ if cls.__module__ in ("builtins", "__main__") else f"{cls.__module__}.{cls.__qualname__}"
