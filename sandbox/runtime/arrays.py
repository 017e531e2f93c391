"""``array.array`` as plans have it: what is written into one runs none of the plan's code meanwhile.

Python's own asks a value for its number after it has looked where to write it. If that value's code shortens the array,
Python writes past its end.
"""

from __future__ import annotations

import array
import builtins
import math
import operator
from collections.abc import Iterable
from types import FunctionType
from typing import Any


class Array(array.array):  # type: ignore[type-arg]  # Python 3.11 has no such alias
    """An array whose items are made numbers before it is asked for room. So are its slices, sums and copies."""

    __slots__ = ()

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value if type(index) is slice else self._number(value))

    def append(self, v: Any, /) -> None:
        super().append(self._number(v))

    def insert(self, i: Any, v: Any, /) -> None:
        super().insert(i, self._number(v))

    def extend(self, bb: Iterable[Any], /) -> None:
        super().extend(bb if issubclass(type(bb), array.array) else map(self._number, bb))

    def fromlist(self, list: Any, /) -> None:
        super().fromlist([*map(self._number, list)] if isinstance(list, builtins.list) else list)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Array(self.typecode, found) if type(found) is array.array else found

    def __add__(self, value: Any, /) -> Array:
        return Array(self.typecode, super().__add__(value))

    def __mul__(self, value: Any, /) -> Array:
        return Array(self.typecode, super().__mul__(value))

    __rmul__ = __mul__

    def __copy__(self) -> Array:
        return Array(self.typecode, super().__copy__())

    def __deepcopy__(self, unused: Any, /) -> Array:
        return self.__copy__()

    def _number(self, value: Any) -> Any:
        """A number or a text of Python's own with this value, made by what Python itself asks: what a class seems to
        have, a plan may hide. Raises: TypeError: the value is neither.
        """
        kind = type(value)
        if kind in (int, float):
            return value
        if issubclass(kind, str):
            return str.__str__(value)
        if self.typecode in "fd":
            return math.ldexp(value, 0)
        return operator.index(value)


Array.__name__ = Array.__qualname__ = "array"
Array.__module__ = "array"
for _name, _member in vars(Array).items():
    if type(_member) is FunctionType:
        _member.__qualname__ = f"array.{_name}"
