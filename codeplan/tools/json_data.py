"""Values as the data that JSON can hold, and back. Each way is one walk, with the class's writer found once.

Objects with one key that begins with ``$`` stand for values that JSON lacks, such as tuples and large numbers.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections import UserString
from collections.abc import (
    Callable,
    Collection,
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
from functools import lru_cache
from numbers import Integral, Real
from operator import attrgetter
from types import NoneType
from typing import Any, Final, TypeAlias

from codeplan.errors import AgentError
from codeplan.untrusted.collisions import MAX_SAME_HASH, collide

MAX_VALUES: Final = 20_000
"""Maximum number of values in the arguments or the result of one call; the sandbox has the same limit."""

MAX_DEPTH: Final = 30
"""Maximum nesting of the arguments or the result of one call."""

_MAX_READ_VALUES: Final = 2 * MAX_VALUES  # a tag is a value as well
_MAX_READ_DEPTH: Final = 2 * MAX_DEPTH + 2  # and a level
_MAX_INT_BITS: Final = 10_000  # Python refuses to write ints of more than 4,300 digits in decimal
_ODD_FLOATS: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_VIEWS: Final = (KeysView, ItemsView, ValuesView)  # in the order of their dict
_WRITTEN_AS_IS: Final = frozenset({NoneType, bool, str})
_READ_AS_IS: Final = frozenset({NoneType, bool, str, int, float})


class NotPlain(Exception):
    """Says why plain data cannot represent a value, in words that follow "returned"."""


def to_json_data(value: object) -> Any:
    """The plain data of a value, as JSON can hold it.

    Sets and other collections become lists; dataclasses and models become dicts, members of enums their values, times
    and paths texts. Raises: NotPlain.
    """
    return value if type(value) in _WRITTEN_AS_IS else _Writer().write(value, 0)


class _Writer:
    """Counts the values on the way. A container counts its parts before it writes them."""

    def __init__(self) -> None:
        self._left = MAX_VALUES - 1  # without the outermost value

    def count(self, parts: int, depth: int) -> None:
        """Count the parts of a container, which are nested in ``depth`` containers."""
        self._left -= parts
        if self._left < 0:
            raise NotPlain(f"more than {MAX_VALUES:,} values")
        if depth > MAX_DEPTH and parts:
            raise NotPlain(f"a value that contains itself, or is nested deeper than {MAX_DEPTH}")

    def write(self, value: Any, depth: int) -> Any:
        """Write a value that is counted already."""
        return _writer_of(value.__class__)(self, value, depth)

    def write_as_is(self, value: Any, depth: int) -> Any:
        return value

    def write_whole(self, value: Any, depth: int) -> Any:
        number = int(value)
        return number if number.bit_length() <= _MAX_INT_BITS else {"$int": hex(number)}

    def write_float(self, value: Any, depth: int) -> Any:
        number = float(value)
        return number if math.isfinite(number) else {"$float": str(number)}

    def write_text(self, value: Any, depth: int) -> str:
        return str.__str__(value)

    def write_list(self, values: Any, depth: int) -> list[Any]:
        parts = tuple(values)  # reading a part may run the tool's code, which may change the list
        self.count(len(parts), depth + 1)
        return [v if type(v) in _WRITTEN_AS_IS else self.write(v, depth + 1) for v in parts]

    def write_tuple(self, values: Any, depth: int) -> dict[str, Any]:
        return {"$tuple": self.write_list(values, depth)}

    def write_iterable(self, values: Iterable[Any], depth: int) -> list[Any]:
        """Write each value before the next is made: an iterator may have no end, or change what it has given."""
        return [self._count_and_write(v, depth + 1) for v in values]

    def write_odd_tuple(self, values: Iterable[Any], depth: int) -> dict[str, Any]:
        return {"$tuple": self.write_iterable(values, depth)}

    def write_set(self, values: Iterable[Any], depth: int) -> list[Any]:
        return _in_order(self.write_iterable(values, depth))

    def write_dict(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        depth += 1
        self.count(2 * len(value), depth)
        written = [v if type(v) in _WRITTEN_AS_IS else self.write(v, depth) for v in value.values()]
        for key in value:
            if type(key) is not str or key[:1] == "$":
                return _joined([(self.write(k, depth), v) for k, v in zip(value, written, strict=True)])
        return dict(zip(value, written, strict=True))

    def write_mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        depth += 1
        return _joined([(self._count_and_write(k, depth), self._count_and_write(v, depth)) for k, v in value.items()])

    def write_member(self, value: Any, depth: int) -> Any:
        return self._count_and_write(value.value, depth + 1)

    def write_model(self, value: Any, depth: int) -> Any:
        return self._count_and_write(value.model_dump(), depth + 1)

    def write_other(self, value: Any, depth: int) -> Any:
        """The plain data for a time, a path, bytes and the like."""
        from pydantic_core import PydanticSerializationError, to_jsonable_python

        if hasattr(value, "dtype") and isinstance(size := getattr(value, "size", None), int):  # NumPy's, and the like
            if size > self._left:
                raise NotPlain(f"more than {MAX_VALUES:,} values")
            return self._count_and_write(value.tolist(), depth + 1)
        try:
            return self._count_and_write(to_jsonable_python(value), depth + 1)
        except (PydanticSerializationError, ValueError):
            raise NotPlain(f"a value of the type {type_name(value)}, which is no plain data") from None

    def _count_and_write(self, value: Any, depth: int) -> Any:
        self.count(1, depth)
        return value if type(value) in _WRITTEN_AS_IS else self.write(value, depth)


_ClassWriter: TypeAlias = Callable[[_Writer, Any, int], Any]

_EXACT_WRITERS: Final[dict[type, _ClassWriter]] = {
    **dict.fromkeys(_WRITTEN_AS_IS, _Writer.write_as_is),
    int: _Writer.write_whole,
    float: _Writer.write_float,
    list: _Writer.write_list,
    tuple: _Writer.write_tuple,
    dict: _Writer.write_dict,
}
_ABSTRACT_WRITERS: Final[tuple[tuple[Any, _ClassWriter], ...]] = (
    (Enum, _Writer.write_member),
    (str, _Writer.write_text),
    # NumPy's durations are Integral; tolist makes most of them a timedelta
    (Integral, lambda w, value, depth: w.write(value.tolist() if hasattr(value, "dtype") else int(value), depth)),
    (Real, _Writer.write_float),
    (tuple, _Writer.write_odd_tuple),
    (Mapping, _Writer.write_mapping),
    (_VIEWS, _Writer.write_iterable),
    (Set, _Writer.write_set),
    ((bytes, bytearray), _Writer.write_other),
    (UserString, lambda writer, value, depth: str(value)),
    ((Iterator, Sequence), _Writer.write_iterable),
)
"""The first class that fits decides."""


@lru_cache(maxsize=1_000)
def _writer_of(cls: type) -> _ClassWriter:
    """How values of a class are written. Found once for a class: the checks take microseconds."""
    if exact := _EXACT_WRITERS.get(cls):
        return exact
    if found := next((write for kind, write in _ABSTRACT_WRITERS if issubclass(cls, kind)), None):
        return found
    if dataclasses.is_dataclass(cls):
        return _dataclass_writer(tuple(f.name for f in dataclasses.fields(cls)))
    from pydantic import BaseModel

    return _Writer.write_model if issubclass(cls, BaseModel) else _Writer.write_other


def _dataclass_writer(names: tuple[str, ...]) -> _ClassWriter:
    """The writer of a dataclass with these fields. They are read in one go."""
    if len(names) < 2:
        return lambda writer, value, depth: writer.write_dict({name: getattr(value, name) for name in names}, depth)
    read = attrgetter(*names)

    def write(writer: _Writer, value: Any, depth: int) -> dict[str, Any]:
        depth += 1
        writer.count(2 * len(names), depth)
        return {
            name: v if type(v) in _WRITTEN_AS_IS else writer.write(v, depth)
            for name, v in zip(names, read(value), strict=True)
        }

    return write


def _joined(written: list[tuple[Any, Any]]) -> dict[str, Any]:
    """The dict of these written keys and values. Raises: NotPlain: a key is a list or a dict."""
    if all(type(k) is str and k[:1] != "$" for k, _ in written):
        return dict(written)
    if any(isinstance(k, list) or ((isinstance(k, dict) and "$dict" in k) or k == {}) for k, _ in written):
        raise NotPlain("a dict with a key that is no plain value")
    return {"$dict": [[k, v] for k, v in written]}


def _in_order(values: list[Any]) -> list[Any]:
    """The elements of a set, which has no order of its own, in one that is always the same."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=json.dumps)


def type_name(value: object) -> str:
    """The name of the value's class, with its module unless that is Python's own or the program."""
    cls = type(value)
    return cls.__qualname__ if cls.__module__ in ("builtins", "__main__") else f"{cls.__module__}.{cls.__qualname__}"


def from_json_data(data: Any) -> Any:
    """The plain data that stands in JSON.

    Raises: AgentError: an object with a ``$`` is malformed, or the data is larger than a call can take or return.
    """
    return data if type(data) in _READ_AS_IS else _Reader().read(data, 0)


def stands_for_itself(text: str) -> bool:
    """Whether ``from_json_data`` is sure to change and to refuse nothing in the data of this JSON text.

    True for most calls and answers, which are then not walked through. The text has no ``$``, is too short to hold too
    many values and has too few brackets to be nested too deeply.
    """
    return (
        len(text) <= _MAX_READ_VALUES
        and "$" not in text
        and "\\u0024" not in text
        and text.count("[") + text.count("{") <= _MAX_READ_DEPTH
    )


class _Reader:
    """Counts values on the way. The JSON may be nested deeply, or give a dict many keys of one hash value."""

    def __init__(self) -> None:
        self._left = _MAX_READ_VALUES - 1  # without the outermost value

    def read(self, data: Any, depth: int) -> Any:
        """Read data that is counted already."""
        depth += 1
        if isinstance(data, list):
            return self._parts(data, depth)
        if not isinstance(data, dict):
            return data
        if len(data) == 1 and (tag := next(iter(data))).startswith("$"):
            return self._untag(tag, data[tag], depth)
        return dict(zip(data, self._parts(data.values(), depth), strict=True))

    def _parts(self, values: Collection[Any], depth: int) -> list[Any]:
        self._left -= len(values)
        if self._left < 0 or (depth > _MAX_READ_DEPTH and values):
            limits = f"more than {MAX_VALUES:,} values, or nested deeper than {MAX_DEPTH}"
            raise AgentError(f"the data of a call is too large: {limits}", "ValueError")
        return [v if type(v) in _READ_AS_IS else self.read(v, depth) for v in values]

    def _untag(self, tag: str, data: Any, depth: int) -> Any:
        try:
            if tag == "$tuple":
                return tuple(self._parts(data, depth))
            if tag == "$dict":
                keys, values = [key for key, _ in data], [value for _, value in data]
                return _build_dict(self._parts(keys, depth), self._parts(values, depth))
            if tag == "$int":
                return int(data, 16)
            if tag == "$float":
                return _ODD_FLOATS[data]
        except (KeyError, TypeError, ValueError):
            pass
        raise _malformed()


def _build_dict(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    if collide(keys):
        raise AgentError(f"a dict has more than {MAX_SAME_HASH} keys with the same hash", "ValueError")
    return dict(zip(keys, values, strict=True))


def _malformed() -> AgentError:
    return AgentError('an object whose only key begins with $ is written as {"$dict": [[KEY, VALUE]]}', "ValueError")
