"""``itertools.islice`` and ``struct`` as plans have them: they ask a plan's objects for numbers before Python's own do.

Python's put an error of their own in the place of any that such an object raises, also of one that ends the plan.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
import struct
from collections.abc import Iterator
from itertools import repeat
from types import FunctionType
from typing import Any, Final

from codeplan.sandbox.runtime.attributes import ALLOWED_ATTRIBUTES
from codeplan.sandbox.runtime.classes import VISIBLE_TYPES
from codeplan.sandbox.runtime.guards import ask_first, set_name
from codeplan.sandbox.runtime.module_names import split_names


class Islice(itertools.islice):  # type: ignore[type-arg]  # it has no alias
    """Some of the items of an iterable."""

    __slots__ = ()

    def __new__(cls, iterable: Any, *bounds: Any, **named: Any) -> Any:
        return super().__new__(cls, iterable, *map(_bound, bounds), **named)


def _bound(value: Any) -> Any:
    refusal = ValueError()
    try:
        return ask_first(operator.index, value, refusal)
    except ValueError as error:
        if error is not refusal:
            raise
        return -1  # which Python refuses in its own words


Islice.__name__ = Islice.__qualname__ = "islice"
Islice.__module__ = "itertools"
VISIBLE_TYPES.add(Islice)


class Struct(struct.Struct):
    """A format of bytes."""

    __slots__ = ()

    def pack(self, *values: Any) -> bytes:
        return super().pack(*_numbers(self.format, values))

    def pack_into(self, buffer: Any, offset: Any, /, *values: Any) -> None:
        super().pack_into(buffer, offset, *_numbers(self.format, values))


Struct.__module__ = "_struct"
for _name, _member in vars(Struct).items():
    if type(_member) is FunctionType:
        _member.__qualname__ = f"Struct.{_name}"
ALLOWED_ATTRIBUTES[Struct] = split_names("format iter_unpack pack pack_into size unpack unpack_from")


def _pack(format: Any, /, *values: Any) -> bytes:
    return Struct(format).pack(*values)


def _pack_into(format: Any, buffer: Any, offset: Any, /, *values: Any) -> None:
    Struct(format).pack_into(buffer, offset, *values)


STRUCT_MEMBERS: Final[dict[str, object]] = {
    "Struct": Struct,
    "pack": set_name("pack", _pack),
    "pack_into": set_name("pack_into", _pack_into),
}
"""The members of ``struct`` that take numbers."""

_FLOATS: Final = frozenset("def")
_CODE: Final = re.compile(r"(?<![0-9])([0-9]*)([a-zA-Z?])")


def _numbers(format: str, values: tuple[Any, ...]) -> list[Any]:
    """Return the values with a float for each object of the plan that the format writes as one."""
    refusal = struct.error("required argument is not a float")
    codes = _codes(format)
    return [
        ask_first(lambda number: math.ldexp(number, 0), value, refusal) if next(codes, "") in _FLOATS else value
        for value in values
    ]


def _codes(format: str) -> Iterator[str]:
    """The code by which a format writes each value."""
    for count, code in _CODE.findall(format):
        if code in "sp":
            yield code
        elif code != "x":
            yield from repeat(code, int(count or 1))
