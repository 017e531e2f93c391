"""Calls of tools and their answers as JSON texts: the actions and observations of an episode.

Objects with one key that begins with ``$`` stand for what JSON lacks: tuples, large numbers, odd keys and floats.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections import UserString
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from enum import Enum, auto
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, Final, NamedTuple

import msgspec

from codeplan.errors import AgentError
from codeplan.untrusted.collisions import MAX_SAME_HASH, collide
from codeplan.untrusted.terminal import one_line

MAX_VALUES: Final = 20_000
"""Maximum number of values in what one call takes or returns, as many as the sandbox lets through."""

MAX_DEPTH: Final = 30
"""Maximum nesting of what one call takes or returns."""

MAX_RESULT_CHARS: Final = 400_000
"""Maximum length of a result as JSON, in characters: an observation has room for it."""

_MAX_JSON_DEPTH: Final = 2 * MAX_DEPTH + 2  # a tag is a level as well
_MAX_INT_BITS: Final = 10_000  # Python refuses to write ints of more than 4,300 digits in decimal
_ODD_FLOATS: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_VIEWS: Final = (KeysView, ItemsView, ValuesView)  # in the order of their dict


class NotPlain(Exception):
    """Says why a value has no plain data, in words that follow "returned"."""


class Answer(NamedTuple):
    """What a tool answered: its result, or an error with the name of its exception (empty for a result)."""

    result: Any = None
    error: str = ""
    message: str = ""


def call_text(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call as an action. Raises: AgentError: an argument is too large to write."""
    try:
        return _json({"tool": tool, "arguments": {name: to_json_data(v) for name, v in arguments.items()}})
    except NotPlain as reason:
        raise AgentError(f"{one_line(tool, 100)} was given {reason}", "ValueError") from None


def read_call(action: str) -> tuple[str, dict[str, Any]]:
    """The tool's name and the arguments of an action. Raises: AgentError: the action is no call."""
    form = '{"tool": "NAME", "arguments": {…}}'
    try:
        call = _from_json(action)
    except (ValueError, RecursionError):
        raise AgentError(f"an action is a call as JSON: {form}", "ValueError") from None
    if not isinstance(call, dict) or not isinstance(call.get("tool"), str) or not call.keys() <= {"tool", "arguments"}:
        raise AgentError(f"an action is a call as JSON: {form}", "ValueError")
    arguments = call.get("arguments", {})
    if not isinstance(arguments, dict):
        raise AgentError(f"the arguments of a call are an object: {form}", "ValueError")
    return call["tool"], {name: from_json_data(v) for name, v in arguments.items()}


def result_text(result: object) -> str:
    """A result as an observation. Raises: NotPlain: it has no plain data, or is too large."""
    text = _json({"result": to_json_data(result)})
    if len(text) > MAX_RESULT_CHARS:
        raise NotPlain(f"{len(text):,} characters of data, more than {MAX_RESULT_CHARS:,}")
    return text


def error_text(error: str, message: str) -> str:
    """A failed call as an observation; ``error`` is the name of the exception."""
    return _json({"error": error, "message": message})


def read_answer(observation: str) -> Answer:
    """The answer that an observation holds. Raises: ValueError: it holds none."""
    try:
        answer = _from_json(observation)
    except RecursionError:
        raise ValueError("the observation is nested too deeply") from None
    if isinstance(answer, dict) and "result" in answer:
        return Answer(from_json_data(answer["result"]))
    match answer:
        case {"error": str(error), "message": str(message)} if error:
            return Answer(None, error, message)
    raise ValueError("the observation holds no answer of a tool")


def _json(data: object) -> str:
    """The data as JSON. Half surrogate pairs are escaped."""
    try:
        return msgspec.json.encode(data).decode()
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":"))


def _from_json(text: str) -> Any:
    """The data of JSON. Raises: ValueError, RecursionError.

    The standard library decides on what msgspec refuses, such as half surrogate pairs.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return json.loads(text)


def to_json_data(value: object) -> Any:
    """The plain data of a value, as JSON can hold it.

    Sets and other collections become lists; dataclasses and models become dicts, members of enums their values, times
    and paths texts. Raises: NotPlain.
    """
    if value is None or type(value) is str or type(value) is bool:
        return value
    return _Writer().write(value, 0)


class _Form(Enum):
    """How the values of a class are written."""

    LIST = auto()
    DICT = auto()
    WHOLE = auto()
    FLOAT = auto()
    TEXT = auto()
    DATACLASS = auto()
    MEMBER = auto()
    TUPLE = auto()
    SET = auto()
    OTHER = auto()


@lru_cache(maxsize=1_000)
def _form(cls: type) -> _Form:
    """Found once for a class: the checks take microseconds."""
    kinds: tuple[tuple[Any, _Form], ...] = (
        (Enum, _Form.MEMBER),
        (str, _Form.TEXT),
        (Integral, _Form.WHOLE),
        (Real, _Form.FLOAT),
        (tuple, _Form.TUPLE),
        (Mapping, _Form.DICT),
        (_VIEWS, _Form.LIST),
        (Set, _Form.SET),
        ((bytes, bytearray, UserString), _Form.OTHER),
        ((Iterator, Sequence), _Form.LIST),
    )
    found = next((form for kind, form in kinds if issubclass(cls, kind)), None)
    return found or (_Form.DATACLASS if dataclasses.is_dataclass(cls) else _Form.OTHER)


class _Writer:
    def __init__(self) -> None:
        self._left = MAX_VALUES

    def write(self, value: Any, depth: int) -> Any:
        self._require_room(1)
        self._left -= 1
        if depth > MAX_DEPTH:
            raise NotPlain(f"a value that contains itself, or is nested deeper than {MAX_DEPTH}")
        if value is None or type(value) is str or type(value) is bool:
            return value
        match _form(value.__class__):
            case _Form.LIST:
                return self._list(value, depth + 1)
            case _Form.DICT:
                return self._dict(value.items(), depth + 1)
            case _Form.WHOLE:
                return _whole(int(value))
            case _Form.FLOAT:
                return _float(float(value))
            case _Form.TEXT:
                return str.__str__(value)
            case _Form.DATACLASS:
                return self._dict(((f.name, getattr(value, f.name)) for f in dataclasses.fields(value)), depth + 1)
            case _Form.MEMBER:
                return self.write(value.value, depth + 1)
            case _Form.TUPLE:
                return {"$tuple": self._list(value, depth + 1)}
            case _Form.SET:
                return _in_order(self._list(value, depth + 1))
            case _Form.OTHER:
                return self._other(value, depth + 1)

    def _require_room(self, count: int) -> None:
        if count > self._left:
            raise NotPlain(f"more than {MAX_VALUES:,} values")

    def _list(self, values: Iterable[Any], depth: int) -> list[Any]:
        return [self.write(v, depth) for v in values]

    def _dict(self, items: Iterable[tuple[Any, Any]], depth: int) -> dict[str, Any]:
        written = [(self.write(k, depth), self.write(v, depth)) for k, v in items]
        if all(type(k) is str and k[:1] != "$" for k, _ in written):
            return dict(written)
        if any(isinstance(k, list) or ((isinstance(k, dict) and "$dict" in k) or k == {}) for k, _ in written):
            raise NotPlain("a dict with a key that is no plain value")
        return {"$dict": [[k, v] for k, v in written]}

    def _other(self, value: Any, depth: int) -> Any:
        """The fields of a model, or what stands for a time, a path, bytes and the like."""
        from pydantic import BaseModel
        from pydantic_core import PydanticSerializationError, to_jsonable_python

        if isinstance(value, BaseModel):
            return self.write(value.model_dump(), depth)
        if isinstance(value, UserString):
            return str(value)
        if hasattr(value, "dtype") and isinstance(size := getattr(value, "size", None), int):  # NumPy's, and the like
            self._require_room(size)
            return self.write(value.tolist(), depth)
        try:
            return self.write(to_jsonable_python(value), depth)
        except (PydanticSerializationError, ValueError):
            raise NotPlain(f"a value of the type {_type_name(value)}, which is no plain data") from None


def _type_name(value: object) -> str:
    cls = type(value)
    return cls.__qualname__ if cls.__module__ in ("builtins", "__main__") else f"{cls.__module__}.{cls.__qualname__}"


def _in_order(values: list[Any]) -> list[Any]:
    """The elements of a set, which has no order of its own, in one that is always the same."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=json.dumps)


def _whole(value: int) -> Any:
    return value if value.bit_length() <= _MAX_INT_BITS else {"$int": hex(value)}


def _float(value: float) -> Any:
    return value if math.isfinite(value) else {"$float": str(value)}


def from_json_data(data: Any) -> Any:
    """The plain data that stands in JSON.

    Raises: AgentError: an object with a ``$`` is malformed, or the data is larger than a call can take or return.
    """
    return _Reader().read(data, 0) if type(data) is list or type(data) is dict else data


class _Reader:
    """Counts values on the way. The JSON may be nested deeply, or give a dict many keys of one hash value."""

    def __init__(self) -> None:
        self._left = 2 * MAX_VALUES  # a tag is a value as well

    def read(self, data: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _MAX_JSON_DEPTH:
            limits = f"more than {MAX_VALUES:,} values, or nested deeper than {MAX_DEPTH}"
            raise AgentError(f"the data of a call is too large: {limits}", "ValueError")
        if isinstance(data, list):
            return [self.read(v, depth + 1) for v in data]
        if not isinstance(data, dict):
            return data
        if len(data) == 1 and (tag := next(iter(data))).startswith("$"):
            return self._untag(tag, data[tag], depth + 1)
        return {k: self.read(v, depth + 1) for k, v in data.items()}

    def _untag(self, tag: str, data: Any, depth: int) -> Any:
        try:
            if tag == "$tuple":
                return tuple(self.read(v, depth) for v in data)
            if tag == "$dict":
                return self._dict([(self.read(k, depth), self.read(v, depth)) for k, v in data])
            if tag == "$int":
                return int(data, 16)
            if tag == "$float":
                return _ODD_FLOATS[data]
        except (KeyError, TypeError, ValueError):
            pass
        raise _malformed()

    def _dict(self, items: list[tuple[Any, Any]]) -> dict[Any, Any]:
        if collide([key for key, _ in items]):
            raise AgentError(f"a dict has more than {MAX_SAME_HASH} keys with the same hash", "ValueError")
        return dict(items)


def _malformed() -> AgentError:
    return AgentError('an object whose only key begins with $ is written as {"$dict": [[KEY, VALUE]]}', "ValueError")
