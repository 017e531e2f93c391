"""Shows a value that a plan, a model or a page made: as text, in bounded size and time.

Through aliases a small checkpoint can stand for an endless value. So the text is written up to a limit and never
measured first, and a container that was shown before is a short mark from then on. No method of the value runs: what is
no builtin value is shown by the name of its type alone.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

ELLIPSIS: Final = "…"
"""Stands for what is left out."""

MAX_DEPTH: Final = 30
"""Deeper values are shown as an ellipsis."""

_MAX_INT_BITS: Final = 4_000  # Python refuses to write ints of more than 4,300 digits in decimal
_MAX_TYPE_NAME: Final = 60
_MAX_SORT_KEY: Final = 100  # characters of a set's element that decide its place


def value_text(value: object, max_characters: int, *, max_string: int | None = None) -> str:
    """The value in Python's notation, in at most ``max_characters`` and an ellipsis for the rest.

    ``<same list as above>`` stands for a list that the text shows before; ``<the enclosing list>`` for one that
    contains itself. Short containers are written again. ``max_string`` also limits each text within the value, in
    characters.
    """
    return ValueWriter(max_string=max_string).text(value, max_characters)


def whole_value_text(value: object, max_characters: int) -> str | None:
    """The value in Python's notation without any mark, or None if that is longer, endless or too deep."""
    writer = ValueWriter(marks_repeats=False)
    text = writer.text(value, max_characters)
    return None if writer.abbreviated else text


def in_quotes(text: object, max_characters: int = 80) -> str:
    """A name or another short value from elsewhere in Python's notation, for a message.

    A text of more than ``max_characters`` ends with an ellipsis after the quote.
    """
    return value_text(text, max_characters + 4, max_string=max_characters)


class ValueWriter:
    """Writes values that belong together, one after the other: a container is shown once in all of them.

    ``abbreviated`` tells whether an ellipsis or a mark stands in any text so far. Without ``marks_repeats`` a container
    is shown each time that it occurs.
    """

    def __init__(self, *, max_string: int | None = None, marks_repeats: bool = True) -> None:
        self.abbreviated = False
        self._max_string, self._marks_repeats = max_string, marks_repeats
        self._parts: list[str] = []
        self._room = 0
        self._shown_length: dict[int, int | None] = {}  # by id; None while the container is being written
        self._sorted: dict[int, list[Any]] = {}

    def text(self, value: object, max_characters: int, depth: int = 0) -> str:
        """The next value's text, in at most ``max_characters`` and an ellipsis; ``depth`` is that of the value."""
        self._parts, self._room = [], max_characters
        try:
            self._write(value, depth)
        except _FullError:
            self._parts.append(ELLIPSIS)
            self.abbreviated = True
            # What was left half written does not enclose the next value, and is not above it as a whole.
            self._shown_length = {known: n for known, n in self._shown_length.items() if n is not None}
        return "".join(self._parts)

    def _write(self, value: Any, depth: int) -> None:
        write = _WRITERS.get(type(value)) or _inherited_writer(value)
        if write is None:
            self._put(_scalar_text(value, self._room, self._max_string))
            self.abbreviated |= _is_abbreviated(value, self._max_string)
        elif self._is_marked(value):
            self.abbreviated = True
        elif depth > MAX_DEPTH:
            self._put(ELLIPSIS)
            self.abbreviated = True
        else:
            self._shown_length[id(value)] = None
            before = self._room
            write(self, value, depth + 1)
            self._shown_length[id(value)] = before - self._room

    def _is_marked(self, value: object) -> bool:
        """Write a mark if the container was shown before, and say whether a mark was written."""
        if id(value) not in self._shown_length:
            return False
        length = self._shown_length[id(value)]
        kind = _type_name(value)
        mark = f"<the enclosing {kind}>" if length is None else f"<same {kind} as above>"
        if length is not None and (length <= len(mark) or not self._marks_repeats):
            return False
        self._put(mark)
        return True

    def series(self, opening: str, values: Iterable[Any], closing: str, depth: int) -> None:
        """Write values between brackets."""
        self._put(opening)
        for count, value in enumerate(values):
            self._put(", " if count else "")
            self._write(value, depth)
        self._put(closing)

    def pairs(self, opening: str, items: Iterable[tuple[Any, Any]], closing: str, depth: int) -> None:
        """Write keys and values between brackets."""
        self._put(opening)
        for count, (key, value) in enumerate(items):
            self._put(", " if count else "")
            self._write(key, depth)
            self._put(": ")
            self._write(value, depth)
        self._put(closing)

    def fields(self, value: msgspec.Struct, depth: int) -> None:
        """Write a frozen value of codeplan with the names of its fields."""
        self._put(f"{_type_name(value)}(")
        for count, name in enumerate(value.__struct_fields__):
            self._put(f"{', ' if count else ''}{name}=")
            self._write(getattr(value, name), depth)
        self._put(")")

    def in_order(self, values: Iterable[Any], depth: int) -> list[Any]:
        """The elements of a set in an order that does not depend on their hashes, which differ between processes."""
        if id(values) not in self._sorted:
            elements = list(values)
            kinds = {type(element) for element in elements}
            comparable = len(kinds) == 1 and kinds <= _ORDERED_TYPES
            key = None if comparable else lambda element: self._sort_key(element, depth)
            self._sorted[id(values)] = sorted(elements, key=key)
        return self._sorted[id(values)]

    def _sort_key(self, element: object, depth: int) -> str:
        writer = ValueWriter(marks_repeats=False)
        writer._sorted = self._sorted
        return f"{_type_name(element)} {writer.text(element, _MAX_SORT_KEY, depth)}"

    def _put(self, text: str) -> None:
        if len(text) > self._room:
            self._parts.append(text[: self._room])
            raise _FullError
        self._room -= len(text)
        self._parts.append(text)


class _FullError(Exception):
    """The text reached its limit."""


_ORDERED_TYPES: Final = {str, bytes, int, bool}


def _write_list(writer: ValueWriter, value: list[Any], depth: int) -> None:
    writer.series("[", list.__iter__(value), "]", depth)


def _write_tuple(writer: ValueWriter, value: tuple[Any, ...], depth: int) -> None:
    writer.series("(", tuple.__iter__(value), ",)" if tuple.__len__(value) == 1 else ")", depth)


def _write_set(writer: ValueWriter, value: set[Any], depth: int) -> None:
    opening, closing = ("{", "}") if set.__len__(value) else ("set(", ")")
    writer.series(opening, writer.in_order(value, depth), closing, depth)


def _write_frozenset(writer: ValueWriter, value: frozenset[Any], depth: int) -> None:
    opening, closing = ("frozenset({", "})") if frozenset.__len__(value) else ("frozenset(", ")")
    writer.series(opening, writer.in_order(value, depth), closing, depth)


def _write_deque(writer: ValueWriter, value: deque[Any], depth: int) -> None:
    closing = "])" if value.maxlen is None else f"], maxlen={value.maxlen})"
    writer.series("deque([", deque.__iter__(value), closing, depth)


def _write_dict(writer: ValueWriter, value: dict[Any, Any], depth: int) -> None:
    named = type(value) is not dict
    opening, closing = (f"{_type_name(value)}({{", "})") if named else ("{", "}")
    writer.pairs(opening, _items(value), closing, depth)


def _write_defaultdict(writer: ValueWriter, value: defaultdict[Any, Any], depth: int) -> None:
    factory = value.default_factory
    named = factory.__name__ if isinstance(factory, type) else "None" if factory is None else "function"
    writer.pairs(f"defaultdict({named[:_MAX_TYPE_NAME]}, {{", dict.items(value), "})", depth)


def _write_error(writer: ValueWriter, value: BaseException, depth: int) -> None:
    writer.series(f"{_type_name(value)}(", value.args, ")", depth)


def _items(value: dict[Any, Any]) -> Iterable[tuple[Any, Any]]:
    return OrderedDict.items(value) if isinstance(value, OrderedDict) else dict.items(value)


_WRITERS: Final[dict[type, Callable[[ValueWriter, Any, int], None]]] = {
    list: _write_list,
    tuple: _write_tuple,
    set: _write_set,
    frozenset: _write_frozenset,
    deque: _write_deque,
    dict: _write_dict,
    OrderedDict: _write_dict,
    Counter: _write_dict,
    defaultdict: _write_defaultdict,
    msgspec.Struct: ValueWriter.fields,
    BaseException: _write_error,
}
"""How the builtin containers are written. A subclass is written as the first of these that it extends."""


def _inherited_writer(value: object) -> Callable[[ValueWriter, Any, int], None] | None:
    return next((_WRITERS[kind] for kind in type(value).__mro__ if kind in _WRITERS), None)


def _scalar_text(value: Any, room: int, max_string: int | None) -> str:
    """A value without parts as text, not much longer than ``room``. This alone may call ``__repr__``."""
    if isinstance(value, str):
        return _string_text(str.__str__(value), room, max_string, str.__repr__)
    if isinstance(value, bytes):
        return _string_text(bytes.__getitem__(value, slice(None)), room, max_string, bytes.__repr__)
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        bits = int.bit_length(value)
        return int.__repr__(value) if bits <= _MAX_INT_BITS else f"<an int of {bits:,} bits>"
    if isinstance(value, float):
        return float.__repr__(value)
    name = _type_name(value)
    return f"<{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}>"


def _string_text(value: Any, room: int, max_string: int | None, notation: Callable[[Any], str]) -> str:
    most = room if max_string is None else min(room, max_string)
    if len(value) <= most:
        return notation(value)
    return notation(value[:most]) + ELLIPSIS


def _is_abbreviated(value: object, max_string: int | None) -> bool:
    """Whether a scalar's text leaves something out, apart from what the room cuts off."""
    if isinstance(value, int):
        return int.bit_length(value) > _MAX_INT_BITS
    if isinstance(value, str):
        return max_string is not None and str.__len__(value) > max_string
    return max_string is not None and isinstance(value, bytes) and bytes.__len__(value) > max_string


def _type_name(value: object) -> str:
    name = type(value).__name__[:_MAX_TYPE_NAME]
    return name if name.isprintable() else "value"


def iterate_scalars(value: object) -> Iterator[object]:
    """Every value without parts that ``value`` contains, keys included; each container is visited once."""
    seen: set[int] = set()
    waiting: list[Any] = [value]
    while waiting:
        current = waiting.pop()
        if not isinstance(current, list | tuple | set | frozenset | deque | dict):
            yield current
        elif id(current) not in seen:
            seen.add(id(current))
            waiting.extend(current)
            if isinstance(current, dict):
                waiting.extend(dict.values(current))
