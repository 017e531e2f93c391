"""Shows a value that a plan, a model or a page made: as text, in bounded size and time.

Through aliases a small checkpoint can represent an endless value. So the text is written up to a limit without being
measured first, and a container that was already shown becomes a short mark. No method of the value runs: a value that
is not builtin appears as the name of its type.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from operator import length_hint
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from codeplan.plain_data import NotPlainData, unpack
from codeplan.types import Answer, Call
from codeplan.untrusted.texts import left_out, with_article

ELLIPSIS: Final = "…"
"""Replaces an omitted part."""

MAX_TYPE_NAME: Final = 60
"""Maximum length of the name of a type, in characters."""

_NAME_OF: Final = type.__dict__["__name__"].__get__
_MAX_INT_BITS: Final = 4_000  # Python refuses to write ints of more than 4,300 digits in decimal


class SavedObject(dict[str, Any]):
    """The fields of an object of a plan's own class, as a checkpoint holds them. As a key it equals itself alone."""

    def __init__(self, class_name: str) -> None:
        super().__init__()
        self.class_name = class_name

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other


class SavedTuple(tuple[Any, ...]):
    """A named tuple of a plan's own class, as a checkpoint holds it. As a key it equals itself alone."""

    class_name: str
    names: tuple[str, ...]

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


class SavedMember(str):
    """A member of a plan's own Enum, as ``Color.RED``. No text is equal to it."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return type(other) is SavedMember and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other


class NotKnownType:
    """The type of ``NotKnown``: a plan's value for an answer that the data do not give. It is false."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __hash__(self) -> int:
        return 1  # the same in every process

    def __repr__(self) -> str:
        return "NotKnown"


NotKnown: Final = NotKnownType()


def scalar_text(value: Any, room: int, max_string: int | None) -> str:
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
    if isinstance(value, complex):
        return complex.__repr__(value)
    if type(value) in _SHOWN_BY_REPR:
        text = repr(value)
        return text if len(text) <= room + _MAX_EXCESS else text[:room] + ELLIPSIS
    return f"<{with_article(type_name(value))}>"


_SHOWN_BY_REPR: Final[frozenset[type]] = frozenset(
    {datetime.date, datetime.datetime, datetime.time, datetime.timedelta, decimal.Decimal, fractions.Fraction}
    | {pathlib.PurePosixPath, pathlib.PureWindowsPath, NotKnownType}
)
_MAX_EXCESS: Final = 100  # characters by which a text may exceed the room, so that the writer marks where it is cut


def _string_text(value: Any, room: int, max_string: int | None, notation: Callable[[Any], str]) -> str:
    most = room if max_string is None else min(room, max_string)
    if len(value) <= most:
        return notation(value)
    return notation(value[:most]) + ELLIPSIS


def is_abbreviated(value: object, max_string: int | None) -> bool:
    """Whether a scalar's text is abbreviated for a reason other than the room."""
    if isinstance(value, int):
        return int.bit_length(value) > _MAX_INT_BITS
    if isinstance(value, str):
        return max_string is not None and str.__len__(value) > max_string
    return max_string is not None and isinstance(value, bytes) and bytes.__len__(value) > max_string


def type_name(value: object) -> str:
    """The name of a value's type, in printable characters; that of the plan's class if it stands for its object."""
    return value.class_name if isinstance(value, SavedObject | SavedTuple) else class_name(type(value))


def class_name(cls: type) -> str:
    """A class's name, in printable characters. It is the real one, whatever the class's own class says."""
    name: str = _NAME_OF(cls)[:MAX_TYPE_NAME]
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


MAX_COUNT_CHARS: Final = 80
"""Maximum length of the mark that counts the rest of a value, in characters."""

MAX_DEPTH: Final = 30
"""Deeper values are shown as an ellipsis."""

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

    ``abbreviated`` is whether any text so far contains an ellipsis or a mark. Without ``marks_repeats`` a container is
    shown each time that it occurs. With ``counts``, marks say how much is left out, in place of an ellipsis:
    ``'abc'[312 characters left out]``. ``names`` are shown in place of the texts that they name.
    """

    def __init__(
        self,
        *,
        max_string: int | None = None,
        marks_repeats: bool = True,
        counts: bool = False,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.abbreviated = False
        self._max_string, self._marks_repeats, self._counts, self._names = (
            max_string,
            marks_repeats,
            counts,
            names or {},
        )
        self._open: list[list[int]] = []  # of each container that is being written: elements so far, and all
        self._parts: list[str] = []
        self._room = 0
        self._shown_length: dict[int, int | None] = {}  # by id; None while the container is being written
        self._sorted: dict[int, list[Any]] = {}

    def text(self, value: object, max_characters: int, depth: int = 0) -> str:
        """The next value's text, in at most ``max_characters`` and an ellipsis; ``depth`` is that of the value.

        With counts, MAX_COUNT_CHARS take the place of the ellipsis.
        """
        self._parts, self._room, self._open = [], max_characters, []
        try:
            self._write(value, depth)
        except _FullError:
            self._parts.append(self._counted_rest() if self._counts else ELLIPSIS)
            self.abbreviated = True
            # A half-written container does not enclose the next value, and was not shown as a whole.
            self._shown_length = {known: n for known, n in self._shown_length.items() if n is not None}
        return "".join(self._parts)

    def _write(self, value: Any, depth: int) -> None:
        write = next((_WRITERS[kind] for kind in type(value).__mro__ if kind in _WRITERS), None)
        if write is None:
            self._put_scalar(value)
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

    def _put_scalar(self, value: Any) -> None:
        if type(value) is SavedMember and len(value) <= self._room:
            self._put(str.__str__(value))
        elif type(value) is str and value in self._names:
            self._put(self._names[value])
            self.abbreviated = True
        elif type(value) is str and self._counts:
            self._put_counted(value)
        else:
            self._put(scalar_text(value, self._room, self._max_string))
            self.abbreviated |= is_abbreviated(value, self._max_string)

    def _put_counted(self, text: str) -> None:
        """Write as much of a text as there is room for, and how much is left out."""
        most = min(len(text), self._room, len(text) if self._max_string is None else self._max_string)
        while most > 0 and len(str.__repr__(text[:most])) > self._room:
            most = most * 3 // 4
        shown = str.__repr__(text[:most])
        if most < len(text):
            shown += left_out(len(text) - most, "character")
            self.abbreviated = True
        elif len(shown) > self._room:
            raise _FullError
        self._parts.append(shown)
        self._room -= len(shown)

    def _counted_rest(self) -> str:
        """How much is left out of the container that was being written, and of the outermost one around it."""
        if self._parts[-1:] == [", "]:
            self._parts.pop()
        rest = [count - done for done, count in self._open[-1:] + self._open[:-1][:1]]
        marks = ", ".join(left_out(left, "element") for left in rest if left > 0)
        return f", {marks}" if marks and self._open[-1][0] else marks

    def _is_marked(self, value: object) -> bool:
        """Write a mark if the container was shown before, and say whether a mark was written."""
        if id(value) not in self._shown_length:
            return False
        length = self._shown_length[id(value)]
        kind = type_name(value)
        mark = f"<the enclosing {kind}>" if length is None else f"<same {kind} as above>"
        if length is not None and (length <= len(mark) or not self._marks_repeats):
            return False
        self._put(mark)
        return True

    def series(self, opening: str, values: Iterable[Any], closing: str, depth: int) -> None:
        """Write values between brackets."""
        self._begin(opening, length_hint(values))
        for count, value in enumerate(values):
            self._put(", " if count else "")
            self._write(value, depth)
            self._open[-1][0] += 1
        self._end(closing)

    def pairs(self, opening: str, items: Iterable[tuple[Any, Any]], closing: str, depth: int) -> None:
        """Write keys and values between brackets."""
        self._begin(opening, length_hint(items))
        for count, (key, value) in enumerate(items):
            self._put(", " if count else "")
            before = len(self._parts)
            try:
                self._write(key, depth)
                self._put(": ")
                self._write(value, depth)
            except _FullError:
                if self._counts and len(self._parts) <= before + 2:  # a key alone
                    del self._parts[before:]
                raise
            self._open[-1][0] += 1
        self._end(closing)

    def fields(self, kind: str, fields: Iterable[tuple[str, Any]], depth: int) -> None:
        """Write an object with the names of its fields."""
        self._begin(f"{kind}(", length_hint(fields))
        for count, (name, value) in enumerate(fields):
            self._put(f"{', ' if count else ''}{name}=")
            self._write(value, depth)
            self._open[-1][0] += 1
        self._end(")")

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
        return f"{type_name(element)} {writer.text(element, _MAX_SORT_KEY, depth)}"

    def _begin(self, opening: str, elements: int) -> None:
        self._open.append([0, elements])
        try:
            self._put(opening)
        except _FullError:
            if len(self._open) > 1:
                self._open.pop()  # nothing of it is shown: it counts as an element of the container around it
            raise

    def _end(self, closing: str) -> None:
        self._put(closing)
        self._open.pop()

    def _put(self, text: str) -> None:
        if len(text) > self._room:
            self._parts += [] if self._counts else [text[: self._room]]
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
    opening, closing = (f"{type_name(value)}({{", "})") if named else ("{", "}")
    writer.pairs(opening, _items(value), closing, depth)


def _write_defaultdict(writer: ValueWriter, value: defaultdict[Any, Any], depth: int) -> None:
    factory = value.default_factory
    named = factory.__name__ if isinstance(factory, type) else "None" if factory is None else "function"
    writer.pairs(f"defaultdict({named[:MAX_TYPE_NAME]}, {{", dict.items(value), "})", depth)


def _write_struct(writer: ValueWriter, value: msgspec.Struct, depth: int) -> None:
    writer.fields(type_name(value), [(name, getattr(value, name)) for name in value.__struct_fields__], depth)


def _write_object(writer: ValueWriter, value: SavedObject, depth: int) -> None:
    writer.fields(value.class_name, dict.items(value), depth)


def _write_named_tuple(writer: ValueWriter, value: SavedTuple, depth: int) -> None:
    writer.fields(value.class_name, list(zip(value.names, tuple.__iter__(value), strict=True)), depth)


def _write_error(writer: ValueWriter, value: BaseException, depth: int) -> None:
    writer.series(f"{type_name(value)}(", value.args, ")", depth)


def _items(value: dict[Any, Any]) -> Iterable[tuple[Any, Any]]:
    return OrderedDict.items(value) if isinstance(value, OrderedDict) else dict.items(value)


_WRITERS: Final[dict[type, Callable[[ValueWriter, Any, int], None]]] = {
    SavedObject: _write_object,
    SavedTuple: _write_named_tuple,
    list: _write_list,
    tuple: _write_tuple,
    set: _write_set,
    frozenset: _write_frozenset,
    deque: _write_deque,
    dict: _write_dict,
    OrderedDict: _write_dict,
    Counter: _write_dict,
    defaultdict: _write_defaultdict,
    msgspec.Struct: _write_struct,
    BaseException: _write_error,
}
"""How the builtin containers are written. A subclass is written as the first of these that it extends."""


_MAX_ROUNDS: Final = 4  # how often the unused room of short values is shared again
_MIN_SHARE: Final = 100  # characters for a variable and its value; where all cannot have them, some are only named
_MAX_NAME: Final = 60

_T = TypeVar("_T")


class VariableTexts(NamedTuple):
    """Variables as text, by their whole names.

    ``unshown`` are names of variables without their values; ``unnamed`` counts the rest. ``abbreviated`` is whether
    the texts contain an ellipsis or a mark.
    """

    texts: dict[str, str]
    unshown: list[str]
    unnamed: int
    abbreviated: bool


def variable_texts(
    variables: Mapping[str, object],
    max_characters: int,
    *,
    max_each: int | None = None,
    max_string: int | None = None,
    counts: bool = False,
    names: Mapping[str, str] | None = None,
) -> VariableTexts:
    """Each variable in Python's notation; all names and values together take at most ``max_characters``.

    Values that need little leave the rest of their share to the others, so an early variable cannot use up the room of
    a later one. ``max_each`` limits one value, ``max_string`` a text within it. If there are too many variables, the
    last are only named. ``counts`` and ``names`` are as in ``ValueWriter``.
    """
    shown = dict(islice(variables.items(), max(1, max_characters // _MIN_SHARE)))
    unshown = _names_that_fit(islice(variables, len(shown), None), max_characters // 4)
    room = max_characters - sum(map(_name_room, (*shown, *unshown)))
    most = room if max_each is None else max_each

    def length(value: object, share: int) -> int | None:
        writer = ValueWriter(max_string=max_string, counts=counts, names=names)
        text = writer.text(value, min(share, most))
        return len(text) if len(text) <= share else None

    shares = fair_shares(shown, room, length)
    if counts:
        cut = {n: shares.pop(n) for n, value in shown.items() if length(value, shares[n]) is None}
        shares |= {n: share - MAX_COUNT_CHARS for n, share in cut.items() if share > MAX_COUNT_CHARS}
        unshown = [clip_name(n) for n in shown if n not in shares] + unshown
    writer = ValueWriter(max_string=max_string, counts=counts, names=names)
    texts = {n: writer.text(value, min(most, shares[n])) for n, value in shown.items() if n in shares}
    unnamed = len(variables) - len(texts) - len(unshown)
    return VariableTexts(texts, unshown, unnamed, writer.abbreviated)


def clip_name(name: str) -> str:
    """The name of a variable in at most 60 characters and an ellipsis."""
    return name if len(name) <= _MAX_NAME else name[:_MAX_NAME] + ELLIPSIS


def _names_that_fit(names: Iterable[str], room: int) -> list[str]:
    fitting: list[str] = []
    for name in names:
        room -= _name_room(name)
        if room < 0:
            break
        fitting.append(clip_name(name))
    return fitting


def _name_room(name: str) -> int:
    """The characters that a name takes on its line, with an equals sign, two ellipses and the line's end."""
    return min(len(name), _MAX_NAME) + 6


def fair_shares(values: Mapping[str, _T], room: int, size: Callable[[_T, int], int | None]) -> dict[str, int]:
    """The room of each value. ``size`` measures a value up to a limit; None means that it is larger.

    In each round the values without a share may take equal parts of the room. Those that need less free the rest.
    """
    shares: dict[str, int] = {}
    waiting = dict(values)
    for _ in range(_MAX_ROUNDS):
        if not waiting:
            break
        part = max(0, room // len(waiting))
        fitting = {name: needed for name, value in waiting.items() if (needed := size(value, part)) is not None}
        if not fitting:
            break
        shares |= fitting
        room -= sum(fitting.values())
        waiting = {name: value for name, value in waiting.items() if name not in fitting}
    return shares | {name: max(0, room // len(waiting)) for name in waiting}


# ------------------------------------------------------------------ calls of tools, and their answers

MAX_ASKED_ARGUMENT: Final = 1_000
"""Maximum length of each argument in a question about a call, in characters."""

MAX_ASKED_TEXT: Final = 300
"""Maximum length of each text in such an argument, in characters."""

_MAX_ARGUMENT: Final = 300  # characters of an argument
_MAX_TEXT: Final = 200  # characters of a text in an argument
_MAX_RESULT: Final = 20_000  # characters of a result, before a prompt shortens it


def call_text(tool: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """The call in a line, for the person who must approve it, and whether a part of the arguments is left out, which …
    marks.

    Each argument has room of its own: a long one must not push another out of sight.
    """
    writer = ValueWriter(max_string=MAX_ASKED_TEXT, marks_repeats=False)
    return _written(writer, tool, arguments, MAX_ASKED_ARGUMENT), writer.abbreviated


def shown_call(call: Call, max_argument: int = _MAX_ARGUMENT, max_text: int = _MAX_TEXT) -> str:
    """A call as a plan writes it; the words of an action in a world of text.

    At most ``max_argument`` characters of each argument are shown, and ``max_text`` of each text in it.
    """
    if call.arguments is None:
        return call.name
    writer = ValueWriter(max_string=max_text, marks_repeats=False, counts=True)
    return _written(writer, call.name, {n: unpacked(v) for n, v in call.arguments.items()}, max_argument)


def shown_answer(answer: Answer) -> str:
    """A tool's result as a plan prints it, or its error; the observation in a world of text."""
    if answer.observation is not None:
        return answer.observation.text
    if answer.error:
        return f"raised {answer.error}: {answer.message}"
    result = unpacked(answer.value)
    return result if isinstance(result, str) else value_text(result, _MAX_RESULT)


def _written(writer: ValueWriter, tool: str, arguments: Mapping[str, Any], most: int) -> str:
    return f"{tool}({', '.join(f'{name}={writer.text(value, most)}' for name, value in arguments.items())})"


def unpacked(packed: Any) -> Any:
    """The value; its packed form if a forged trace holds what packing never makes."""
    try:
        return unpack(packed)
    except NotPlainData:
        return packed
