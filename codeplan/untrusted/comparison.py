"""Compares untrusted values in time linear in their parts.

``==`` compares a shared part again for each path that leads to it: forty nested pairs take 2**40 steps. Hashing a tuple
does the same. Here each container is visited once, and hashed by the numbers of its parts.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Iterable
from typing import Any, Final

from codeplan.untrusted.values import value_text

MAX_STEPS: Final = 1_000_000
"""Values that take more steps to compare count as different."""

_MAX_KEY_DEPTH: Final = 200
_MAX_SHOWN: Final = 2_000


def same_values(left: object, right: object) -> bool:
    """Whether two values are equal in the sense of ``==``, cycles and shared parts included.

    Only builtin values and the containers of ``collections`` can be equal. Values that take more than MAX_STEPS to
    compare, and those with keys nested deeper than 200, count as different.
    """
    try:
        return _Comparison().compare(left, right)
    except _TooLargeError:
        return False


class BoundedValue:
    """A decoded value that compares and shows itself within bounds, for assertions in tests."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __getitem__(self, key: str) -> BoundedValue:
        """The variable of this name, if the value is a dict. Raises KeyError."""
        assert isinstance(self.value, dict)
        return BoundedValue(self.value[key])

    def __eq__(self, other: object) -> bool:
        return same_values(self.value, other.value if isinstance(other, BoundedValue) else other)

    __hash__ = None  # type: ignore[assignment]  # as mutable values, it has no hash

    def __repr__(self) -> str:
        return value_text(self.value, _MAX_SHOWN)


class _TooLargeError(Exception):
    """The comparison took too many steps."""


class _Comparison:
    """Compares pairs of parts. Pairs that were compared, or are being compared, form classes of equal values."""

    def __init__(self) -> None:
        self._steps = 0
        self._parents: dict[int, int] = {}
        self._numbers = _KeyNumbers(self)
        self._waiting: list[tuple[Any, Any]] = []

    def compare(self, left: object, right: object) -> bool:
        self._waiting.append((left, right))
        while self._waiting:
            self.count()
            if not self._same_head(*self._waiting.pop()):
                return False
        return True

    def count(self, steps: int = 1) -> None:
        """Count steps. Raises _TooLargeError."""
        self._steps += steps
        if self._steps > MAX_STEPS:
            raise _TooLargeError

    def _same_head(self, left: Any, right: Any) -> bool:
        """Compare two values without their parts, which are queued."""
        if left is right:
            return True
        form = _form(left)
        if form != _form(right):
            return False
        if form is None:
            return _same_scalars(left, right)
        if len(left) != len(right):
            return False
        if not self._join(id(left), id(right)):
            return True  # equal if all queued pairs are equal
        if form is dict:
            return self._same_items(left, right)
        if form is set:
            return set(map(self._numbers.of, left)) == set(map(self._numbers.of, right))
        self._waiting.extend(zip(left, right, strict=True))
        return True

    def _same_items(self, left: dict[Any, Any], right: dict[Any, Any]) -> bool:
        mine, theirs = ({self._numbers.of(k): v for k, v in _items(each)} for each in (left, right))
        if mine.keys() != theirs.keys():
            return False
        if isinstance(left, OrderedDict) and isinstance(right, OrderedDict) and list(mine) != list(theirs):
            return False
        self._waiting.extend((value, theirs[key]) for key, value in mine.items())
        return True

    def _join(self, left: int, right: int) -> bool:
        """Put two containers into one class; False if they are in one already."""
        one, other = self._root(left), self._root(right)
        self._parents[one] = other
        return one != other

    def _root(self, at: int) -> int:
        while (parent := self._parents.get(at, at)) != at:
            self._parents[at] = self._parents.get(parent, parent)  # halve the path
            at = parent
        return at


class _KeyNumbers:
    """Numbers keys so that equal keys have equal numbers. A tuple is numbered once, from the numbers of its parts."""

    def __init__(self, comparison: _Comparison) -> None:
        self._count = comparison.count
        self._known: dict[int, Hashable] = {}
        self._of_parts: dict[Hashable, int] = {}

    def of(self, key: Any, depth: int = 0) -> Hashable:
        self._count()
        if not isinstance(key, tuple | frozenset):
            return key if _is_scalar(key) else ("other", id(key))
        if id(key) not in self._known:
            if depth > _MAX_KEY_DEPTH:
                raise _TooLargeError
            numbers = [self.of(part, depth + 1) for part in key]
            parts: Hashable = tuple(numbers) if isinstance(key, tuple) else frozenset(numbers)
            self._known[id(key)] = ("parts", self._of_parts.setdefault(parts, len(self._of_parts)))
        return self._known[id(key)]


def _form(value: object) -> type | None:
    """The kind of container, to the extent that ``==`` distinguishes kinds; None for a value without parts."""
    for kind in (list, tuple, dict, deque):
        if isinstance(value, kind):
            return kind
    return set if isinstance(value, set | frozenset) else None


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str | bytes)


def _same_scalars(left: object, right: object) -> bool:
    return _is_scalar(left) and _is_scalar(right) and left == right


def _items(values: dict[Any, Any]) -> Iterable[tuple[Any, Any]]:
    return OrderedDict.items(values) if isinstance(values, OrderedDict) else dict.items(values)
