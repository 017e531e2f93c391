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
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import MemberDescriptorType
from typing import Any, Final, Generic, Protocol

from codeplan.sandbox.protocol.codec import ObjectForm, SavedObjects, UnsavableValue
from codeplan.sandbox.runtime.classes import is_plan_class
from codeplan.untrusted.values import MAX_DEPTH, iterate_scalars

_WITHOUT_DATA: Final = frozenset({object, Generic, Protocol})
_WITHOUT_DATA_MODULES: Final = frozenset({"abc", "collections.abc", "contextlib"})
_ENUM_NAME: Final = "_name_"
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
            return ObjectForm(f"member:{name}", {"": _member_name(value)})
        if _is_named_tuple(kind):
            return ObjectForm(f"named:{name}", _named_fields(value))
        return ObjectForm(f"object:{name}", _attributes(value, kind))

    return describe


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and type(kind.__dict__.get("_fields")) is tuple


def _named_fields(value: Any) -> dict[str, Any]:
    return dict(zip(type(value).__dict__["_fields"], tuple.__iter__(value), strict=True))


def _member_name(value: Any) -> str | int:
    """The name of a member, or the number of a combination of flags."""
    attributes = object.__getattribute__(value, "__dict__")
    name = attributes.get(_ENUM_NAME)
    if type(name) is str and name in type(value)._member_map_:
        return name
    number = attributes.get(_ENUM_VALUE)
    if type(number) is not int:
        raise UnsavableValue(f"an object of {type(value).__name__} that is not a member of it")
    return number


def _attributes(value: Any, kind: type) -> dict[str, Any]:
    """The attributes of an object, in its dict and in slots. Raises UnsavableValue: it holds more than these."""
    for base in kind.__mro__:
        if not is_plan_class(base) and base not in _WITHOUT_DATA and base.__module__ not in _WITHOUT_DATA_MODULES:
            raise UnsavableValue(f"an object of {kind.__name__}, a class over {base.__name__}")
    found: dict[str, Any] = {}
    for name, slot in _slots(kind).items():
        with suppress(AttributeError):  # it is not set
            found[name] = slot.__get__(value)
    if kind.__dictoffset__:
        found |= object.__getattribute__(value, "__dict__")
    if not all(type(name) is str and name for name in found):
        raise UnsavableValue(f"an object of {kind.__name__} with an attribute whose name is not a text")
    return found


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
        self._changed = set[str]()

    def lack(self, class_names: Iterable[str]) -> str:
        """Why an object of one of these classes could not be made; empty if all could."""
        for name in sorted(class_names):
            if self._class(name) is None:
                return f"an object of {name}, a class that is not defined before the steps"
            if name in self._changed:
                return f"an object of {name}, a class that has changed since"
        return ""

    def _class(self, class_name: str) -> Any:
        kind = self._namespace.get(class_name)
        return kind if isinstance(kind, type) and is_plan_class(kind) else None

    def empty(self, class_name: str) -> Any:
        kind = self._class(class_name)
        if kind is not None and not isinstance(kind, enum.EnumType):
            with suppress(TypeError):  # the class is abstract, or one over Python's data
                return object.__new__(kind)
        self._changed.add(class_name)
        return super().empty(class_name)

    def fill(self, made: Any, fields: dict[str, Any]) -> None:
        kind = type(made)
        if not is_plan_class(kind):
            super().fill(made, fields)
            return
        slots = _slots(kind)
        for name, value in fields.items():
            if name in slots:
                slots[name].__set__(made, value)
            elif kind.__dictoffset__:
                object.__getattribute__(made, "__dict__")[name] = value
            else:
                self._changed.add(kind.__name__)

    def member(self, class_name: str, name: str | int) -> Any:
        kind = self._class(class_name)
        if isinstance(kind, enum.EnumType):
            if isinstance(name, int):
                return kind(name)
            if name in kind._member_map_:
                return kind._member_map_[name]
        self._changed.add(class_name)
        return super().member(class_name, name)

    def named(self, class_name: str, fields: dict[str, Any]) -> Any:
        kind = self._class(class_name)
        if kind is not None and issubclass(kind, tuple) and kind.__dict__.get("_fields") == tuple(fields):
            return tuple.__new__(kind, fields.values())
        self._changed.add(class_name)
        return super().named(class_name, fields)


_TEXT_OF: Final[dict[type, Callable[[Any], str]]] = {
    **{kind: kind.isoformat for kind in (datetime.date, datetime.datetime, datetime.time)},
    **dict.fromkeys((decimal.Decimal, uuid.UUID, pathlib.PurePosixPath, pathlib.PureWindowsPath), str),
}
"""The texts of values that are no plain data, as a tool's own results have them."""


def plain_value(value: Any, *, texts: bool = False) -> Any:
    """Return a value as plain data for readers that have not the plan's classes.

    A dataclass becomes a dict, a named tuple a tuple, a member of an Enum its value. Objects of other classes stay.
    With ``texts``, dates, times, Decimals, UUIDs and paths become texts.
    """
    if not any(_is_no_data(type(part), texts) for part in (value, *iterate_scalars(value))):
        return value
    return _plain(value, 0, texts)


def _is_no_data(kind: type, texts: bool) -> bool:
    return is_plan_class(kind) or (texts and kind in _TEXT_OF)


def _plain(value: Any, depth: int, texts: bool) -> Any:
    kind = type(value)
    if depth > MAX_DEPTH:
        return value
    if is_plan_class(kind):
        return _plain_object(value, kind, depth, texts)
    if kind in (list, tuple):
        return kind(_plain(part, depth + 1, texts) for part in value)
    if kind is dict:
        return {_plain(key, depth + 1, texts): _plain(part, depth + 1, texts) for key, part in value.items()}
    return _TEXT_OF[kind](value) if texts and kind in _TEXT_OF else value


def _plain_object(value: Any, kind: type, depth: int, texts: bool) -> Any:
    if isinstance(kind, enum.EnumType):
        return _plain(object.__getattribute__(value, "__dict__").get(_ENUM_VALUE), depth + 1, texts)
    if _is_named_tuple(kind):
        return tuple(_plain(part, depth + 1, texts) for part in tuple.__iter__(value))
    if dataclasses.is_dataclass(kind):
        return {name: _plain(part, depth + 1, texts) for name, part in _attributes(value, kind).items()}
    return value
