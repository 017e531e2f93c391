"""What a checkpoint holds of objects of a plan's own classes, and how a resumed plan gets them back.

Only objects are saved whose class a name of the plan holds, so that the resumed plan has the class again: plain
objects and dataclasses by their attributes, named tuples by their fields, members of an Enum by their names. None of a
plan's own code runs for it, except hashes and comparisons of keys, and what makes a combination of flags.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import MemberDescriptorType
from typing import Any, Final, Generic, Protocol

from codeplan.sandbox.protocol.codec import ObjectForm, SavedObjects, UnsavableValue
from codeplan.sandbox.runtime.classes import is_plan_class
from codeplan.sandbox.runtime.termination import find_limit
from codeplan.untrusted.values import MAX_DEPTH

_WITHOUT_DATA: Final = frozenset({object, Generic, Protocol})
_WITHOUT_DATA_MODULES: Final = frozenset({"abc", "collections.abc", "contextlib"})
_HIDDEN_DATA_MODULES: Final = frozenset({"html.parser"})  # of the runtime's classes that keep data elsewhere
_ENUM_VALUE: Final = "_value_"


def describe_for(namespace: Mapping[str, object]) -> Callable[[Any], ObjectForm | None]:
    """Return what describes the objects of the classes that a plan's names hold."""

    def describe(value: Any) -> ObjectForm | None:
        kind = type(value)
        if not is_plan_class(kind):
            return None
        name = kind.__name__
        if namespace.get(name) is not kind:
            raise UnsavableValue(f"an object of {name}, a class that no name of the plan holds")
        if isinstance(kind, enum.EnumType):
            return ObjectForm(f"member:{name}", _member_parts(value, kind))
        tag, fields = ("named", _named_fields(value)) if _is_named_tuple(kind) else ("object", _attributes(value, kind))
        return ObjectForm(f"{tag}:{name}", [part for field in fields.items() for part in field])

    return describe


def _is_named_tuple(kind: type) -> bool:
    names = kind.__dict__.get("_fields")
    return (
        issubclass(kind, tuple)
        and not kind.__dictoffset__
        and type(names) is tuple
        and all(type(name) is str for name in names)
        and len({*names}) == len(names)
    )


def _named_fields(value: Any) -> dict[str, Any]:
    names, parts = type(value).__dict__["_fields"], tuple(tuple.__iter__(value))
    if len(names) != len(parts):
        raise UnsavableValue(f"an object of {type(value).__name__} with more or fewer parts than names")
    return dict(zip(names, parts, strict=True))


def _member_parts(value: Any, kind: Any) -> list[str | int]:
    """The name of a member; for a combination of flags their names, and the number of its other bits."""
    for name, member in kind._member_map_.items():
        if member is value:
            return [name]
    number = object.__getattribute__(value, "__dict__").get(_ENUM_VALUE)
    if not issubclass(kind, enum.Flag) or type(number) is not int or kind._value2member_map_.get(number) is not value:
        raise UnsavableValue(f"an object of {kind.__name__} that is not a member of it")
    named = {name: bit for name, bit in _bits(kind).items() if number & bit}
    rest = number - sum(named.values())
    return [*(named or [0]), *([rest] if rest else [])]


def _bits(kind: Any) -> dict[str, int]:
    """The flags of one bit, by their names."""
    numbers = {n: object.__getattribute__(m, "__dict__").get(_ENUM_VALUE) for n, m in kind._member_map_.items()}
    bits = {number: name for name, number in numbers.items() if type(number) is int and number.bit_count() == 1}
    return {name: number for number, name in bits.items() if number > 0}


def _attributes(value: Any, kind: type) -> dict[str, Any]:
    """The attributes of an object, in its dict and in slots. Raises UnsavableValue: it holds more than these."""
    if base := _data_base(kind):
        raise UnsavableValue(f"an object of {kind.__name__}, a class over {base.__name__}")
    attributes: dict[str, Any] = {}
    for name, slot in _slots(kind).items():
        with suppress(AttributeError):  # it is not set
            attributes[name] = slot.__get__(value)
    if kind.__dictoffset__:
        attributes |= object.__getattribute__(value, "__dict__")
    if not all(type(name) is str for name in attributes):
        raise UnsavableValue(f"an object of {kind.__name__} with an attribute whose name is not a text")
    if why := _misfit(kind, attributes):
        raise UnsavableValue(f"an object of {kind.__name__} {why}")
    return attributes


def _data_base(kind: type) -> type | None:
    """A base whose objects hold more than attributes; None if there is none."""
    for base in kind.__mro__:
        is_plans = is_plan_class(base) and base.__module__ not in _HIDDEN_DATA_MODULES
        if not is_plans and base not in _WITHOUT_DATA and base.__module__ not in _WITHOUT_DATA_MODULES:
            return base
    return None


def _misfit(kind: type, names: Collection[str]) -> str:
    """Why objects of a class do not have exactly these attributes; empty if they may."""
    slots = _slots(kind)
    in_class = {name: value for base in reversed(kind.__mro__) for name, value in base.__dict__.items()}
    for name in names:
        if name not in slots and (not kind.__dictoffset__ or type(in_class.get(name)) is property):
            return f"with an attribute {name!r} that its class hides"
    for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
        is_always_set = field.init or field.default is not dataclasses.MISSING
        if is_always_set and field.name not in names and (field.name in slots or field.name not in in_class):
            return f"without its field {field.name!r}"
    return ""


def _slots(kind: type) -> dict[str, Any]:
    """The slots of a class and of its bases."""
    every = (item for base in reversed(kind.__mro__) for item in base.__dict__.items())
    return {name: slot for name, slot in every if type(slot) is MemberDescriptorType}


class PlanObjects(SavedObjects):
    """Makes the objects of a resumed plan from its own classes. ``namespace`` holds the plan's names.

    If a class is missing or of another kind, what is made only stands for the object: ``lack`` tells.
    """

    def __init__(self, namespace: Mapping[str, object]) -> None:
        self._namespace = namespace
        self._lost = dict[str, str]()

    def lack(self, class_names: Iterable[str]) -> str:
        """Why an object of one of these classes could not be made; empty if all could."""
        for name in sorted(class_names):
            if self._class(name) is None:
                return f"an object of {name}, a class that is not defined before the steps"
            if name in self._lost:
                return self._lost[name]
        return ""

    def _class(self, class_name: str) -> Any:
        kind = self._namespace.get(class_name)
        return kind if isinstance(kind, type) and is_plan_class(kind) else None

    def _note_changed(self, class_name: str) -> None:
        self._lost[class_name] = f"an object of {class_name}, a class that has changed since"

    def empty(self, class_name: str, names: list[str]) -> Any:
        kind = self._class(class_name)
        if kind is not None and not isinstance(kind, enum.EnumType) and not _data_base(kind):
            with suppress(TypeError):  # the class is abstract
                made = object.__new__(kind)
                if not _misfit(kind, names):
                    return made
        self._note_changed(class_name)
        return super().empty(class_name, names)

    def fill(self, made: Any, fields: dict[str, Any]) -> None:
        kind = type(made)
        if not is_plan_class(kind):
            super().fill(made, fields)
            return
        slots = _slots(kind)
        for name, value in fields.items():
            if name in slots:
                slots[name].__set__(made, value)
            else:
                object.__getattribute__(made, "__dict__")[name] = value

    def member(self, class_name: str, parts: list[str | int]) -> Any:
        kind = self._class(class_name)
        if isinstance(kind, enum.EnumType):
            members = kind._member_map_
            if len(parts) == 1 and parts[0] in members:
                return members[parts[0]]
            if issubclass(kind, enum.Flag) and (made := _combination(kind, parts)) is not None:
                return made
        self._note_changed(class_name)
        return super().member(class_name, parts)

    def named(self, class_name: str, fields: dict[str, Any]) -> Any:
        kind = self._class(class_name)
        if kind is not None and _is_named_tuple(kind) and kind.__dict__["_fields"] == tuple(fields):
            return tuple.__new__(kind, fields.values())
        self._note_changed(class_name)
        return super().named(class_name, fields)

    def miss_keys(self, class_names: Collection[str], error: BaseException) -> None:
        objects = {name for name in class_names if not isinstance(self._class(name), enum.EnumType)}
        if not class_names or find_limit(error):
            raise error
        for name in objects or class_names:
            self._lost.setdefault(name, f"keys of {name}, whose hash or comparison has changed since")


def _combination(kind: Any, parts: list[str | int]) -> Any:
    """The combination of flags that ``_member_parts`` wrote; None if the class has no such flags."""
    bits = _bits(kind)
    named, numbers = [part for part in parts if isinstance(part, str)], [p for p in parts if isinstance(p, int)]
    if not bits.keys() >= {*named} or (len(parts) > 1 and sum(numbers) & sum(bits.values())):
        return None
    number = sum(bits[name] for name in named) + sum(numbers)
    try:
        kind(number)
    except BaseException as error:  # the plan's own
        if find_limit(error):
            raise
    return kind._value2member_map_.get(number)


_TEXT_OF: Final[dict[type, Callable[[Any], str]]] = {
    **{kind: kind.isoformat for kind in (datetime.date, datetime.datetime, datetime.time)},
    **dict.fromkeys((uuid.UUID, pathlib.PurePosixPath, pathlib.PureWindowsPath), str),
    decimal.Decimal: decimal.Context(capitals=1).to_sci_string,
}
"""The texts of values that are no plain data, as a tool's own results have them."""


def plain_value(value: Any, *, texts: bool = False) -> Any:
    """Return a value as plain data for readers that have not the plan's classes. None of the plan's own code runs.

    A dataclass becomes a dict, a named tuple a tuple, a member of an Enum its value. Objects of other classes stay, and
    so does a dict if its keys would not be data, or not all differ. With ``texts``, dates, times, Decimals, UUIDs and
    paths become texts.
    """
    if any(_is_no_data(type(part), texts) for part in _parts(value)):
        return _plain(value, 0, texts, {})
    return value


def _is_no_data(kind: type, texts: bool) -> bool:
    return is_plan_class(kind) or (texts and kind in _TEXT_OF)


def _parts(value: Any) -> Iterator[Any]:
    """A value and all below it, each once; of containers, those of exactly Python's own types."""
    seen, waiting = set[int](), [value]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if type(part) in (list, tuple, dict, frozenset):
            waiting.extend(part)
        if type(part) is dict:
            waiting.extend(part.values())


def _plain(value: Any, depth: int, texts: bool, done: dict[int, Any]) -> Any:
    """``done`` are values that were converted before, by id. One that contains itself stays."""
    if depth > MAX_DEPTH or id(value) in done:
        return done.get(id(value), value)
    done[id(value)] = value
    made = done[id(value)] = _converted(value, partial(_plain, depth=depth + 1, texts=texts, done=done), texts)
    return made


def _converted(value: Any, plain: Callable[[Any], Any], texts: bool) -> Any:
    kind = type(value)
    if is_plan_class(kind):
        return _plain_object(value, kind, plain)
    if kind in (list, tuple):
        return kind([plain(part) for part in value])
    if kind is dict:
        items = [(plain(key), plain(part)) for key, part in value.items()]
        made = dict(items) if all(_is_data_key(key) for key, _ in items) else {}
        return made if len(made) == len(value) else value
    return _TEXT_OF[kind](value) if texts and kind in _TEXT_OF else value


def _is_data_key(key: Any) -> bool:
    return not any(is_plan_class(type(part)) or type(part).__hash__ is None for part in _parts(key))


def _plain_object(value: Any, kind: type, plain: Callable[[Any], Any]) -> Any:
    if isinstance(kind, enum.EnumType):
        return plain(object.__getattribute__(value, "__dict__").get(_ENUM_VALUE))
    if _is_named_tuple(kind):
        return tuple([plain(part) for part in tuple.__iter__(value)])
    if dataclasses.is_dataclass(kind):
        with suppress(UnsavableValue):
            return {name: plain(part) for name, part in _attributes(value, kind).items()}
    return value
