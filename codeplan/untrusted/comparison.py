"""Compares untrusted values and texts in bounded time.

Values: ``==`` compares a shared part again for each path that leads to it: forty nested pairs take 2**40 steps. Hashing
a tuple does the same. Here each container is visited once, and hashed by the numbers of its parts.

Texts, line by line: ``difflib`` takes time that is cubic in the number of lines in the worst case, so it gets small
pieces only. Lines that occur once in both texts divide large texts into pieces (the patience diff of Bram Cohen). A
piece that is still too large is shown as replaced, and the output says so.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter, OrderedDict, deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from codeplan.untrusted.texts import clean, shorten, with_count
from codeplan.untrusted.values import value_text

MAX_CHARACTERS = 1_000_000
"""Maximum number of characters of a text that are compared; the rest is left out."""

_MAX_PIECE = 40_000
"""Maximum size of a piece that is aligned: its number of lines before times its number of lines after."""

_MAX_EFFORT = 200_000
"""Maximum size of all aligned pieces of one comparison together."""

MAX_SHARED_EFFORT = 20 * _MAX_EFFORT
"""Maximum size of all aligned pieces of the comparisons that share a ``DiffEffort``. They take a few seconds."""

_MAX_MESSAGE_LINES = 200
_MAX_MESSAGE_LINE_CHARACTERS = 500
_MAX_NAME_CHARACTERS = 100

TOO_LARGE = "too many changes to align: all lines before, then all lines after"


class DiffRow(NamedTuple):
    """A line of a comparison. ``mark`` is " ", "-" or "+"; "@" marks a remark of the comparison itself.

    The line numbers count from 1. They are None where the line is not in that text.
    """

    mark: Literal[" ", "-", "+", "@"]
    before: int | None
    after: int | None
    text: str


class DiffEffort:
    """The effort left to several comparisons: the size of the pieces that they may still align together."""

    def __init__(self) -> None:
        self.left = MAX_SHARED_EFFORT


_Block: TypeAlias = tuple[str, int, int, int, int]
"""The kind of change ("equal", "unaligned", or a word of difflib), the range of lines before, the range of lines
after.
"""


def compare_lines(before: Sequence[str], after: Sequence[str], effort: DiffEffort | None = None) -> Iterator[DiffRow]:
    """Every line of both texts in order, in linear time except for a sort.

    ``effort`` is shared with other comparisons. When it is spent, only lines that occur once are aligned.
    """
    for what, i1, i2, j1, j2 in _LineComparison(before, after, effort or DiffEffort()).blocks():
        if what == "equal":
            yield from (DiffRow(" ", i + 1, i + 1 + j1 - i1, before[i]) for i in range(i1, i2))
            continue
        if what == "unaligned":
            yield DiffRow("@", None, None, TOO_LARGE)
        yield from (DiffRow("-", i + 1, None, before[i]) for i in range(i1, i2))
        yield from (DiffRow("+", None, j + 1, after[j]) for j in range(j1, j2))


def diff_lines(before: str, after: str, context: int = 2) -> Iterator[tuple[str, str]]:
    """The changes from ``before`` to ``after``: pairs of a mark ("@", " ", "-" or "+") and a clean line.

    ``context`` lines around each change are shown.
    """
    rows = list(compare_lines(_clean_lines(before), _clean_lines(after)))
    near = bytearray(len(rows))
    for at, row in enumerate(rows):
        if row.mark != " ":
            start, end = max(0, at - context), min(len(rows), at + context + 1)
            near[start:end] = b"\1" * (end - start)
    line = 1
    for at, row in enumerate(rows):
        if near[at]:
            if not at or not near[at - 1]:
                yield "@", f"line {line}"
            yield row.mark, row.text
        line += row.after is not None
    yield from _left_out(before, after)


def describe_changes(before: str, after: str) -> str:
    """The changes as a text for a message: at most 200 lines, one line around each change."""
    lines = [mark + " " * (mark == "@") + line for mark, line in diff_lines(before, after, context=1)]
    shown = [shorten(line, _MAX_MESSAGE_LINE_CHARACTERS) for line in lines[:_MAX_MESSAGE_LINES]]
    if len(lines) > len(shown):
        shown.append(f"… ({with_count(len(lines) - len(shown), 'more line')})")
    return "\n".join(shown) or "(only in characters that are not shown)"


def nearest_name(name: str, valid: Iterable[str]) -> str | None:
    """The name among ``valid`` that is most like ``name``; None if none is like it."""
    likeness = 0.5 if len(name) == 2 else 0.6  # of two letters one may be wrong
    near = difflib.get_close_matches(
        name[:_MAX_NAME_CHARACTERS], [v for v in valid if len(v) <= _MAX_NAME_CHARACTERS], 1, likeness
    )
    return near[0] if near else None


class _LineComparison:
    """Aligns the lines of two texts and counts the effort that this takes."""

    def __init__(self, before: Sequence[str], after: Sequence[str], shared: DiffEffort) -> None:
        self._before, self._after, self._effort, self._shared = before, after, _MAX_EFFORT, shared

    def blocks(self) -> Iterator[_Block]:
        i, j = 0, 0
        end = len(self._before), len(self._after)
        if end[0] * end[1] <= min(_MAX_PIECE, self._shared.left):
            yield from self._align(0, end[0], 0, end[1])
            return
        for i2, j2 in [*_common_unique_lines(self._before, self._after), end]:
            yield from self._piece(i, i2, j, j2)
            if i2 < end[0]:
                yield "equal", i2, i2 + 1, j2, j2 + 1
            i, j = i2 + 1, j2 + 1

    def _piece(self, i1: int, i2: int, j1: int, j2: int) -> Iterator[_Block]:
        """A piece between two lines that are aligned: its common start and end, and what is between them."""
        length = min(i2 - i1, j2 - j1)
        head = next((k for k in range(length) if self._before[i1 + k] != self._after[j1 + k]), length)
        rest = length - head
        tail = next((k for k in range(rest) if self._before[i2 - 1 - k] != self._after[j2 - 1 - k]), rest)
        yield "equal", i1, i1 + head, j1, j1 + head
        yield from self._align(i1 + head, i2 - tail, j1 + head, j2 - tail)
        yield "equal", i2 - tail, i2, j2 - tail, j2

    def _align(self, i1: int, i2: int, j1: int, j2: int) -> Iterator[_Block]:
        size = (i2 - i1) * (j2 - j1)
        if size > min(_MAX_PIECE, self._effort, self._shared.left):
            yield "unaligned", i1, i2, j1, j2
            return
        self._effort -= size
        self._shared.left -= size
        matcher = difflib.SequenceMatcher(None, self._before[i1:i2], self._after[j1:j2], autojunk=False)
        for what, a1, a2, b1, b2 in matcher.get_opcodes():
            yield what, i1 + a1, i1 + a2, j1 + b1, j1 + b2


def _common_unique_lines(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """The longest rising series of lines that occur once in each text, as pairs of their indices."""
    once = {line for line, count in Counter(before).items() if count == 1}
    place = {line: j for j, line in enumerate(after) if line in once}
    repeated = {line for line, count in Counter(line for line in after if line in once).items() if count > 1}
    pairs = [(i, place[line]) for i, line in enumerate(before) if line in place and line not in repeated]
    return _longest_rising(pairs)


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest series of pairs whose second parts rise (patience sorting, n log n)."""
    tops: list[int] = []
    top_pairs: list[int] = []
    earlier: list[int] = []
    for number, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        tops[pile : pile + 1] = [j]
        top_pairs[pile : pile + 1] = [number]
        earlier.append(top_pairs[pile - 1] if pile else -1)
    series: list[tuple[int, int]] = []
    at = top_pairs[-1] if top_pairs else -1
    while at >= 0:
        series.append(pairs[at])
        at = earlier[at]
    return series[::-1]


def _clean_lines(text: str) -> list[str]:
    return clean(text[:MAX_CHARACTERS]).splitlines()


def _left_out(before: str, after: str) -> Iterator[tuple[str, str]]:
    if max(len(before), len(after)) > MAX_CHARACTERS and before != after:
        yield "@", f"only the first {MAX_CHARACTERS:,} characters are compared"


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
        return _ValueComparison().compare(left, right)
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


class _ValueComparison:
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
            return _is_scalar(left) and _is_scalar(right) and left == right
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

    def __init__(self, comparison: _ValueComparison) -> None:
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
    return value is None or isinstance(value, bool | int | float | complex | str | bytes)


def _items(values: dict[Any, Any]) -> Iterable[tuple[Any, Any]]:
    return OrderedDict.items(values) if isinstance(values, OrderedDict) else dict.items(values)
