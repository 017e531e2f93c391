"""Saves a plan's variables as data, a flat table of tagged nodes that nothing can execute.

Only exact types are saved: None, bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, Counter,
OrderedDict, deque and defaultdict (over a builtin type); dates, times, paths, Decimal, Fraction and NotKnown; and
objects of a plan's own classes, by the class's name and their fields. Aliases and cycles are kept, also between
variables. A variable that contains anything else is dropped as a whole, and listed with the reason.

None, bools, ints below 2**53, finite floats and texts are nodes by themselves. Every other node is a list of a tag
(see ``table``), then the node numbers of its parts or one text.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import pathlib
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Annotated, Any, Final, NamedTuple, Protocol, TypeAlias

import msgspec

from codeplan.errors import SandboxError
from codeplan.plain_data import MAX_SAME_HASH, collide
from codeplan.sandbox.protocol.limits import MAX_NAME_CHARS
from codeplan.types import Checkpoint
from codeplan.untrusted.texts import with_article, with_count
from codeplan.untrusted.values import NotKnown, NotKnownType, SavedMember, SavedObject, SavedTuple, value_text

SAFE_INT: Final = 2**53  # larger ints are texts in the table, because not every JSON reader keeps them
_MAX_FLOAT: Final = 1.7976931348623157e308
_Whole: TypeAlias = Annotated[int, msgspec.Meta(gt=-SAFE_INT, lt=SAFE_INT)]
_Finite: TypeAlias = Annotated[float, msgspec.Meta(ge=-_MAX_FLOAT, le=_MAX_FLOAT)]

Node: TypeAlias = bool | _Whole | _Finite | str | list[int | str] | None
"""One row of the table."""

CONTAINER_TYPES: Final[dict[str, Callable[[], Any]]] = {
    "list": list,
    "set": set,
    "dict": dict,
    "counter": Counter,
    "ordered": OrderedDict,
    "deque": deque,
}
"""The tags of containers that are created empty and then filled. ``tuple`` and ``frozenset`` are created full.
``deque:N`` has a maximum length, ``default:NAME`` a factory. The other tags are ``int``, ``float``,
``complex``, ``bytes`` and ``text``.
"""

_PLAIN_FACTORIES: Final = (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset)
DEFAULT_FACTORIES: Final = {t.__name__: t for t in (*_PLAIN_FACTORIES, Counter, OrderedDict, deque)}
"""The factories that a saved defaultdict may have; ``default:None`` has none."""

MAX_NODES: Final = 50_000
MAX_NAMES: Final = 1_000
"""Maximum number of saved and dropped variables that a checkpoint names; the rest are counted under OTHERS_KEY."""

OTHERS_KEY: Final = "*"
RETURNED_NAME: Final = "return"
"""The name, in a table of its own, of the value that a plan returned. No variable can have it."""

MAX_REASON_CHARS: Final = 200  # maximum length of the reason why a variable was dropped
MAX_DROPPED_BYTES: Final = 64 << 10  # maximum size of the names and reasons of all dropped variables
MAX_KEY_DEPTH: Final = 64
"""Maximum nesting of tuples: CPython hashes them by unguarded recursion, so a deep key would crash it."""

MAX_KEY_VALUES: Final = 100_000
"""Maximum number of values in a tuple, counting shared ones repeatedly: it bounds the time of hashing."""

MAX_HASHED_VALUES: Final = 400_000
"""Maximum number of values in all keys of a table, counting shared ones repeatedly, because each path to a value
hashes it again.
"""

OBJECT_KINDS: Final = frozenset({"object", "member", "named"})
"""Tags of what a plan's own class makes: ``object:CLASS`` with names and values of fields in turn, ``named:CLASS``,
a named tuple, likewise, and ``member:CLASS`` with the member's name. A combination of flags has the names of its flags,
or 0 if it has none, then the number of its other bits, if there are any; a number alone is the whole combination.
"""

_DICT_TAGS: Final = frozenset({"dict", "counter", "ordered", "default"})
IMMUTABLE_TAGS: Final = frozenset({"tuple", "frozenset"})
"""The tags of values that are created full, parts before wholes."""


class UnsavableValue(Exception):
    """Says why a value cannot be saved."""


def check_collisions(keys: Collection[Any]) -> None:
    """Raise UnsavableValue if too many keys of a dict or set have the same hash."""
    if collide(keys):
        raise UnsavableValue(f"more than {MAX_SAME_HASH} keys with the same hash")


class KeyChecker:
    """Checks that the tuples and frozen sets of a table are shallow and small enough to be hashed."""

    def __init__(self, nodes: list[Any]) -> None:
        self._nodes = nodes
        self._measured: dict[int, tuple[int, int]] = {}
        self._hashed: dict[int, int] = {}

    def check(self, start: int = 0) -> None:
        """Raise UnsavableValue if a tuple from node ``start`` on is too deep, too large, or contains itself.

        Also if all keys together are too large.
        """
        for at in range(start, len(self._nodes)):
            if _is_immutable(self._nodes[at]) and at not in self._measured:
                self._measure(at)
        for at in range(start, len(self._nodes)):
            if keys := _key_nodes(self._nodes[at]):
                self._hashed[at] = sum(self._measured.get(key, (0, 1))[1] for key in keys)
        if sum(self._hashed.values()) > MAX_HASHED_VALUES:
            raise UnsavableValue(f"more than {MAX_HASHED_VALUES:,} values in keys")

    def forget(self, start: int) -> None:
        """Forget the nodes from ``start`` on."""
        for known in (self._measured, self._hashed):
            for at in [at for at in known if at >= start]:
                del known[at]

    def bottom_up(self) -> Iterator[int]:
        """The tuples and frozen sets, parts before wholes."""
        return iter(self._measured)

    def _measure(self, top: int) -> None:
        path = [(top, iter(self._nodes[top][1:]))]
        while path:
            at, parts = path[-1]
            unknown = next((p for p in parts if p not in self._measured and _is_immutable(self._nodes[p])), None)
            if unknown is not None:
                path.append((unknown, iter(self._nodes[unknown][1:])))
            else:
                self._measured[at] = self._combine(self._nodes[at][1:])
                path.pop()
            if len(path) > MAX_KEY_DEPTH:
                raise UnsavableValue(f"tuples nested deeper than {MAX_KEY_DEPTH}")

    def _combine(self, parts: list[int]) -> tuple[int, int]:
        known = [self._measured.get(p, (0, 1)) for p in parts]
        depth, weight = 1 + max((d for d, _ in known), default=0), 1 + sum(w for _, w in known)
        if depth > MAX_KEY_DEPTH:
            raise UnsavableValue(f"tuples nested deeper than {MAX_KEY_DEPTH}")
        if weight > MAX_KEY_VALUES:
            raise UnsavableValue(f"a tuple of more than {MAX_KEY_VALUES:,} values")
        return depth, weight


def _is_immutable(node: Any) -> bool:
    return type(node) is list and (node[0] in IMMUTABLE_TAGS or _split_tag(node)[0] == "named")


def _split_tag(node: list[Any]) -> tuple[str, str]:
    """The kind of a tag, and its detail: ``deque`` and ``5`` for ``deque:5``."""
    kind, _, detail = node[0].partition(":")
    return kind, detail


def _key_nodes(node: Any) -> list[int]:
    """The numbers of the nodes that a container hashes."""
    if type(node) is not list or not node:
        return []
    kind = node[0].partition(":")[0]
    return node[1:] if kind in ("set", "frozenset") else node[1::2] if kind in _DICT_TAGS else []


class CheckpointError(SandboxError):
    """A checkpoint that ``encode`` never produces; the message names the node and the problem."""


class ObjectMaker(Protocol):
    """Makes the objects of a plan's own classes when a checkpoint is decoded."""

    def empty(self, class_name: str, names: list[str]) -> Any:
        """An object without its fields, whose names are ``names``."""

    def fill(self, made: Any, fields: dict[str, Any]) -> None:
        """Give an object its fields."""

    def member(self, class_name: str, parts: list[str | int]) -> Any:
        """A member of an Enum by its name, or a combination of flags by its names and a number."""

    def named(self, class_name: str, fields: dict[str, Any]) -> Any:
        """A named tuple."""

    def miss_keys(self, class_names: Collection[str], error: BaseException) -> None:
        """Note that a dict or set lacks keys, which hold objects of these classes. Raises ``error`` if it is damage."""


class SavedObjects:
    """Makes objects that stand for those of a plan, for readers that have not the plan's classes."""

    def empty(self, class_name: str, names: list[str]) -> SavedObject:
        return SavedObject(class_name)

    def fill(self, made: SavedObject, fields: dict[str, Any]) -> None:
        made.update(fields)

    def member(self, class_name: str, parts: list[str | int]) -> SavedMember:
        return SavedMember(" | ".join(_member_text(class_name, part) for part in parts if part or len(parts) == 1))

    def named(self, class_name: str, fields: dict[str, Any]) -> SavedTuple:
        made = SavedTuple(fields.values())
        made.class_name, made.names = class_name, tuple(fields)
        return made

    def miss_keys(self, class_names: Collection[str], error: BaseException) -> None:
        raise error


def _member_text(class_name: str, part: str | int) -> str:
    """A member in Python's notation."""
    if isinstance(part, int):
        return f"{class_name}({part})"
    if part.isidentifier():
        return f"{class_name}.{part}"
    return f"{class_name}[{value_text(part, 12 * len(part) + 2)}]"


_SAVED_OBJECTS: Final = SavedObjects()


def classes_by_variable(checkpoint: Checkpoint) -> dict[str, frozenset[str]]:
    """The names of the plan's classes of which each variable holds objects; variables without any are left out."""
    if not any(type(node) is list and _split_tag(node)[0] in OBJECT_KINDS for node in checkpoint.nodes):
        return {}
    found = {name: frozenset(_classes_below(checkpoint.nodes, [at])) for name, at in checkpoint.names.items()}
    return {name: classes for name, classes in found.items() if classes}


def _classes_below(nodes: list[Any], tops: list[int]) -> Iterator[str]:
    for at in _parts_first(nodes, tops):
        kind, detail = _split_tag(nodes[at])
        if kind in OBJECT_KINDS:
            yield detail


def _parts_first(nodes: list[Any], tops: Iterable[int]) -> Iterator[int]:
    """The nodes with tags that these nodes reach, each after its parts, except in cycles."""
    path, seen = [(-1, iter(tops))], set[int]()
    while path:
        at, parts = path[-1]
        for part in parts:
            if type(part) is int and part not in seen and type(nodes[part]) is list:
                seen.add(part)
                if len(nodes[part]) > 1:
                    path.append((part, iter(nodes[part][1:])))
                    break
                yield part
        else:
            path.pop()
            if path:
                yield at


def decode(checkpoint: Checkpoint, maker: ObjectMaker = _SAVED_OBJECTS) -> dict[str, object]:
    """The saved variables, as new objects with the original aliases. ``maker`` makes objects of the plan's classes.

    Compare, print and hash them with ``codeplan.untrusted`` alone: with ``==`` or ``repr``, a small table with shared
    parts can take practically forever.

    Raises CheckpointError if the table is damaged.
    """
    try:
        if len(checkpoint.names) > MAX_NAMES or len(checkpoint.dropped) > MAX_NAMES + 1:  # OTHERS_KEY is one more
            raise ValueError(f"it names more than {MAX_NAMES:,} variables")
        values = _TableDecoder(checkpoint.nodes, maker).decode_all()
        for name, reason in checkpoint.dropped.items():
            _verify_dropped(name, reason)
        return {_verify_name(n): values[_verify_index(i, len(values))] for n, i in checkpoint.names.items()}
    except UnsavableValue as reason:
        raise CheckpointError(f"the checkpoint is damaged: it contains {reason}") from None
    except (TypeError, ValueError, AttributeError, RecursionError, ArithmeticError) as error:
        raise CheckpointError(f"the checkpoint is damaged: {error}") from None


class _TableDecoder:
    """Builds the objects of a table: what hashes other values is completed after them, except in cycles."""

    def __init__(self, nodes: list[Any], maker: ObjectMaker) -> None:
        self._maker = maker
        if type(nodes) is not list or len(nodes) > MAX_NODES:
            raise ValueError(f"its nodes are not a list of at most {MAX_NODES:,}")
        self._nodes = nodes
        self._objects: list[int] = []
        self._parts: dict[int, list[int]] = {}  # of the nodes that hold others
        self._unmade = set[int]()  # nodes of values that are created full
        self._values: list[Any] = [self._scalar_or_empty(at, node) for at, node in enumerate(nodes)]

    def decode_all(self) -> list[Any]:
        """One object per node."""
        keys = KeyChecker(self._nodes)
        keys.check()
        for at in self._objects:
            self._values[at] = self._maker.empty(_split_tag(self._nodes[at])[1], [*self._fields(at)])
        order = [at for at in _parts_first(self._nodes, range(len(self._nodes))) if at in self._parts]
        hashing = {at for at in order if _key_nodes(self._nodes[at])}
        waiting = hashing | self._complete_whole([at for at in order if at not in hashing])
        waiting = self._complete_whole([at for at in order if at in waiting])
        for at in (*keys.bottom_up(), *order) if waiting else ():  # in cycles
            if at in waiting and (at in self._unmade or not _is_immutable(self._nodes[at])):
                self._complete(at)
        for at in hashing if self._objects else ():
            self._hash_keys(at, partial(self._verify_found, at))
        return self._values

    def _complete_whole(self, order: list[int]) -> set[int]:
        """Complete the nodes whose parts are there; the others are returned."""
        waiting = set[int]()
        for at in order:
            if self._unmade.isdisjoint(self._parts[at]):
                self._complete(at)
            else:
                waiting.add(at)
        return waiting

    def _complete(self, at: int) -> None:
        tag, value = self._nodes[at][0], self._values[at]
        held = [self._values[part] for part in self._parts[at]]
        if at in self._unmade:
            self._values[at] = self._immutable(at, tag, held)
            self._unmade.remove(at)
        elif type(value) in _FILLED_TYPES:
            self._hash_keys(at, partial(_fill, at, value, held))
        else:
            self._maker.fill(value, self._fields(at))

    def _scalar_or_empty(self, at: int, node: Any) -> Any:
        if node is None or type(node) in (bool, str):
            return node
        if type(node) in (int, float):
            return _verify_number(at, node)
        if type(node) is not list or not node or type(node[0]) is not str:
            raise ValueError(f"node {at} has an unknown form")
        tag, parts = node[0], node[1:]
        if tag in _TEXT_DECODERS:
            return _TEXT_DECODERS[tag](_single_text(at, parts))
        for part in parts:
            _verify_index(part, len(self._nodes))
        kind, detail = _split_tag(node)
        if kind in OBJECT_KINDS:
            _verify_name(detail)
        if kind == "member":
            return self._member(at, detail, parts)
        if parts:
            self._parts[at] = parts
        if kind == "object":
            self._objects.append(at)
        elif _is_immutable(node):
            self._parts[at] = parts
            self._unmade.add(at)
        else:
            return _empty_container(at, tag, len(parts))
        return None  # it is created later

    def _member(self, at: int, class_name: str, parts: list[int]) -> Any:
        names = [self._scalar_or_empty(part, self._nodes[part]) for part in parts if _is_text(self._nodes[part])]
        if not names or len(names) != len(parts):
            raise ValueError(f"node {at} names no member")
        return self._maker.member(class_name, names)

    def _immutable(self, at: int, tag: str, held: list[Any]) -> Any:
        if tag == "tuple":
            return tuple(held)
        if tag == "frozenset":
            return self._hash_keys(at, partial(_frozenset, at, held)) or frozenset()
        return self._maker.named(tag.partition(":")[2], self._fields(at))

    def _hash_keys(self, at: int, act: Callable[[], Any]) -> Any:
        """Do what hashes the keys of a node, by code of the plan if they hold its objects; None if that fails."""
        try:
            return act()
        except BaseException as error:
            self._maker.miss_keys({*_classes_below(self._nodes, _key_nodes(self._nodes[at]))}, error)

    def _verify_found(self, at: int) -> None:
        if not all(self._values[key] in self._values[at] for key in _key_nodes(self._nodes[at])):
            raise ValueError(f"node {at} has a key whose hash has changed")

    def _fields(self, at: int) -> dict[str, Any]:
        parts = [self._values[p] for p in self._nodes[at][1:]]
        if len(parts) % 2 or not all(type(name) is str for name in parts[::2]):
            raise ValueError(f"node {at} has a field without a name or a value")
        return dict(zip(parts[::2], parts[1::2], strict=True))


def _fill(at: int, container: Any, held: list[Any]) -> None:
    if isinstance(container, dict | set):
        check_collisions(held[::2] if isinstance(container, dict) else held)
    if isinstance(container, list | deque):
        container.extend(held)
    elif isinstance(container, set):
        container.update(held)
    else:
        for key, value in zip(held[::2], held[1::2], strict=True):
            container[key] = value
    if len(container) != (len(held) // 2 if isinstance(container, dict) else len(held)):
        raise ValueError(f"node {at} holds a key twice, or more than it can")


_FILLED_TYPES: Final = frozenset({list, dict, set, deque, Counter, OrderedDict, defaultdict})


def _empty_container(at: int, tag: str, parts: int) -> Any:
    """An empty container for the tag."""
    made: Any = None
    kind, _, detail = tag.partition(":")
    if tag in CONTAINER_TYPES:
        made = CONTAINER_TYPES[tag]()
    elif kind == "deque" and detail.isdecimal() and len(detail) < 20:
        made = deque(maxlen=int(detail))
    elif kind == "default" and (detail == "None" or detail in DEFAULT_FACTORIES):
        made = defaultdict(DEFAULT_FACTORIES.get(detail))
    if made is None:
        raise ValueError(f"node {at} has an unknown tag")
    if isinstance(made, dict) and parts % 2:
        raise ValueError(f"node {at} has a key without a value")
    return made


def _frozenset(at: int, parts: list[Any]) -> frozenset[Any]:
    check_collisions(parts)
    made = frozenset(parts)
    if len(made) != len(parts):
        raise ValueError(f"node {at} holds a value twice")
    return made


def _is_text(node: Any) -> bool:
    """Whether a node is a text or a whole number."""
    return type(node) in (str, int) or (type(node) is list and node[:1] in (["text"], ["int"]))


def _verify_number(at: int, value: float) -> float:
    """The number, if JSON keeps it exactly; others must be texts."""
    if not -SAFE_INT < value < SAFE_INT if type(value) is int else not math.isfinite(value):
        raise ValueError(f"node {at} is a number that must be written as text")
    return value


def _read_int(text: str) -> int:
    value = int(text, 16)
    if hex(value) != text:
        raise ValueError("a number is not in the form that encode writes")
    return value


def _read_float(text: str) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise ValueError("a number is not in the form that encode writes")
    return float(text)


def _read_complex(text: str) -> complex:
    real, _, imaginary = text.partition(" ")
    value = complex(float.fromhex(real), float.fromhex(imaginary))
    if _complex_text(value) != text:
        raise ValueError("a number is not in the form that encode writes")
    return value


def _complex_text(value: complex) -> str:
    return f"{value.real.hex()} {value.imag.hex()}"


def _read_text(text: str) -> str:
    return bytes.fromhex(text).decode("utf-8", "surrogatepass")


class _ValueText(NamedTuple):
    """How a value of a type stands in the table as text, and is read from it."""

    tag: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]


def _zoned_text(value: datetime.datetime | datetime.time) -> str:
    zone = value.tzinfo
    if zone is not None and (type(zone) is not datetime.timezone or _is_named(zone)):
        raise UnsavableValue(f"{with_article(type(value).__name__)} in a named time zone cannot be saved")
    return value.isoformat()


def _is_named(zone: datetime.timezone) -> bool:
    name = zone.tzname(None)
    return type(name) is not str or name != datetime.timezone(zone.utcoffset(None)).tzname(None)


def _fraction_text(value: fractions.Fraction) -> str:
    if type(value._numerator) is not int or type(value._denominator) is not int:  # type: ignore[attr-defined]
        raise UnsavableValue("a Fraction of a plan's own numbers cannot be saved")
    return str(value)


def _duration_text(value: datetime.timedelta) -> str:
    return f"{value.days} {value.seconds} {value.microseconds}"


_VALUE_TEXTS: Final[dict[type, _ValueText]] = {
    datetime.date: _ValueText("date", datetime.date.isoformat, datetime.date.fromisoformat),
    datetime.datetime: _ValueText("datetime", _zoned_text, datetime.datetime.fromisoformat),
    datetime.time: _ValueText("time", _zoned_text, datetime.time.fromisoformat),
    datetime.timedelta: _ValueText("timedelta", _duration_text, lambda t: datetime.timedelta(*map(int, t.split()))),
    decimal.Decimal: _ValueText("decimal", decimal.Context(capitals=1).to_sci_string, decimal.Decimal),
    pathlib.PurePosixPath: _ValueText("path", str, pathlib.PurePosixPath),
    pathlib.PureWindowsPath: _ValueText("windows_path", str, pathlib.PureWindowsPath),
    fractions.Fraction: _ValueText("fraction", _fraction_text, fractions.Fraction),
    NotKnownType: _ValueText("constant", lambda value: "NotKnown", lambda name: NotKnown),
}
"""Dates, exact numbers and NotKnown: no part of them is another value."""


def _value_node(value: Any) -> Node:
    """Raises UnsavableValue if the text does not read as the same value again."""
    form = _VALUE_TEXTS[type(value)]
    try:
        text = form.write(value)
        text.encode()
        is_same = _looks(form.read(text)) == _looks(value)
    except (ValueError, ArithmeticError):
        is_same = False
    if not is_same:
        raise UnsavableValue(f"{with_article(type(value).__name__)} that cannot be written as text without loss")
    return [form.tag, text]


def _looks(value: Any) -> tuple[Any, ...]:
    """What tells values of a type apart that are equal to each other."""
    return repr(value), getattr(value, "parts", None), getattr(value, "anchor", None)


def _reader(form: _ValueText) -> Callable[[str], Any]:
    """Return what reads a text that is in the form that ``encode`` writes."""

    def read(text: str) -> Any:
        value = form.read(text)
        if form.write(value) != text:
            raise ValueError(f"a {form.tag} is not in the form that encode writes")
        return value

    return read


_TEXT_DECODERS: Final[dict[str, Callable[[str], Any]]] = {
    **{form.tag: _reader(form) for form in _VALUE_TEXTS.values()},
    "int": _read_int,
    "float": _read_float,
    "complex": _read_complex,
    "bytes": bytes.fromhex,
    "text": _read_text,
}


def _single_text(at: int, parts: list[Any]) -> str:
    if len(parts) != 1 or type(parts[0]) is not str:
        raise ValueError(f"node {at} is not one text")
    return parts[0]


def _verify_index(part: Any, count: int) -> int:
    if type(part) is not int or not 0 <= part < count:
        raise ValueError("a part or a variable is not the number of a node")
    return part


def _verify_name(name: Any) -> str:
    if type(name) is not str or len(name) > MAX_NAME_CHARS or not name.isidentifier():
        raise ValueError("a name is not that of a variable")
    return name


def _verify_dropped(name: Any, reason: Any) -> None:
    if type(name) is not str or type(reason) is not str:
        raise ValueError("a dropped name or its reason is not text")
    if len(name) > MAX_NAME_CHARS or len(reason) > MAX_REASON_CHARS:
        raise ValueError("a dropped name or its reason is too long")


__all__ = ["CheckpointError", "Node", "decode", "encode"]

_BYTES_PER_PART: Final = 3
_TAGS: Final[dict[Any, str]] = {
    **{kind: kind.__name__ for kind in (list, tuple, dict, set, frozenset, deque)},
    **{Counter: "counter", OrderedDict: "ordered", defaultdict: "default"},
}


class ObjectForm(NamedTuple):
    """What is saved of an object of a plan's class: its tag, and its parts, as OBJECT_KINDS says."""

    tag: str
    parts: list[Any]


Describe: TypeAlias = Callable[[Any], ObjectForm | None]
"""Describes an object of a plan's own class; None for any other value. Raises UnsavableValue."""


def _describe_nothing(value: Any) -> None:
    return None


def encode(variables: dict[str, object], max_bytes: int, describe: Describe = _describe_nothing) -> Checkpoint:
    """Save the variables in at most ``max_bytes``; ``dropped`` names what cannot be saved. ``describe`` reads objects.

    Names and reasons of dropped variables take at most MAX_DROPPED_BYTES. The rest are counted under OTHERS_KEY.
    """
    table = _TableBuilder(max_bytes, describe)
    names: dict[str, int] = {}
    dropped: dict[str, str] = {}
    others, room = 0, MAX_DROPPED_BYTES
    for name, value in variables.items():
        if len(names) + len(dropped) >= MAX_NAMES or len(name) > MAX_NAME_CHARS:
            others += 1
            continue
        try:
            names[name] = table.add(name, value)
        except UnsavableValue as reason:
            why = str(reason)[:MAX_REASON_CHARS]
            room -= len(f"{name}{why}".encode()) + 10
            if room >= 0:
                dropped[name] = why
            else:
                others += 1
    if others:
        dropped[OTHERS_KEY] = (
            f"{with_count(others, 'more variable')}, not saved because there are too many or their names are too long"
        )
    return Checkpoint(names, table.nodes, dropped)


class _TableBuilder:
    """The table under construction. A value that turns out unsavable leaves no trace in it."""

    def __init__(self, max_bytes: int, describe: Describe) -> None:
        self.nodes: list[Any] = []
        self._describe = describe
        self._max_bytes = max_bytes
        self._free_bytes = max_bytes
        self._seen: dict[int, int] = {}
        self._keys = KeyChecker(self.nodes)
        self._pending: list[tuple[int, Any]] = []
        self._hashed: list[Collection[Any]] = []
        self._held: list[Any] = []  # what _seen knows by id, as a plan's hash may let go of it

    def add(self, name: str, value: object) -> int:
        """Add a value and return its node's number. Raises UnsavableValue."""
        mark, room, seen = len(self.nodes), self._free_bytes, len(self._seen)
        try:
            self._reserve(len(name) * 4 + 10)
            root = self._place(value)
            while self._pending:
                self._fill(*self._pending.pop())
            while self._hashed:
                check_collisions(self._hashed.pop())
            self._keys.check(mark)
        except UnsavableValue:
            self._roll_back(mark, room, seen)
            raise
        except MemoryError:
            raise
        except BaseException as error:  # a plan's own hash
            raised = f"raised {type(error).__name__}" if issubclass(type(error), Exception) else "ends the plan"
            if self._describe is _describe_nothing and raised == "ends the plan":
                raise  # it is the host's
            self._roll_back(mark, room, seen)
            raise UnsavableValue(f"its hash or comparison {raised}") from None
        return root

    def _roll_back(self, mark: int, room: int, seen: int) -> None:
        del self.nodes[mark:]
        self._free_bytes = room
        self._pending.clear()
        self._hashed.clear()
        self._keys.forget(mark)
        while len(self._seen) > seen:
            self._seen.popitem()

    def _place(self, value: Any) -> int:
        """Return the number of a value's node. Containers are filled later, so depth and cycles cost no recursion."""
        kind = type(value)
        known = self._seen.get(id(value))
        if known is not None:
            return known
        if kind in _SCALAR_NODES:
            node = _SCALAR_NODES[kind](value)
            if type(node) is list:  # a NaN is found in a dict only if it is the same object
                self._note_seen(value)
            return self._append(node)
        if kind in (str, bytes) and len(value) > self._free_bytes:
            self._reserve(len(value))  # checked before a copy is made
        self._note_seen(value)
        if kind is str:
            return self._append(_text_node(value))
        if kind is bytes:
            return self._append(["bytes", value.hex()])
        if kind in _VALUE_TEXTS:
            return self._append(_value_node(value))
        if kind not in _TAGS:
            return self._place_object(value)
        if len(self.nodes) + len(value) > MAX_NODES:
            raise UnsavableValue(f"more than {MAX_NODES:,} values")
        self._reserve(_BYTES_PER_PART * len(value) * (2 if isinstance(value, dict) else 1))
        self._pending.append((len(self.nodes), value))
        return self._append([_tag(value)])

    def _note_seen(self, value: Any) -> None:
        """The next node is this value's."""
        self._seen[id(value)] = len(self.nodes)
        self._held.append(value)

    def _place_object(self, value: Any) -> int:
        form = self._describe(value)
        if form is None:
            kind = "a class" if issubclass(type(value), type) else with_article(type(value).__name__)
            raise UnsavableValue(f"{kind} cannot be saved")
        self._held.append(form)
        self._reserve(_BYTES_PER_PART * len(form.parts))
        self._pending.append((len(self.nodes), form))
        return self._append([form.tag])

    def _append(self, node: Node) -> int:
        self._reserve(_size(node))
        if len(self.nodes) >= MAX_NODES:
            raise UnsavableValue(f"more than {MAX_NODES:,} values")
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _fill(self, at: int, container: Any) -> None:
        self.nodes[at].extend(map(self._place, _parts(container)))
        if isinstance(container, dict | set | frozenset):
            self._hashed.append(container)

    def _reserve(self, size: int) -> None:
        self._free_bytes -= size
        if self._free_bytes < 0:
            raise UnsavableValue(f"larger than the {self._max_bytes:,} bytes that a checkpoint may take")


def _int_node(value: int) -> Node:
    return value if -SAFE_INT < value < SAFE_INT else ["int", hex(value)]


def _float_node(value: float) -> Node:
    return value if math.isfinite(value) else ["float", repr(value)]


def _text_node(value: str) -> Node:
    """The text, or its hexadecimal form if it contains lone surrogates, which UTF-8 cannot encode."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return ["text", value.encode("utf-8", "surrogatepass").hex()]
    return value


_SCALAR_NODES: Final[dict[type, Callable[[Any], Node]]] = {
    type(None): lambda value: None,
    bool: lambda value: bool(value),
    int: _int_node,
    float: _float_node,
    complex: lambda value: ["complex", _complex_text(value)],
}


def _tag(container: Any) -> str:
    tag = _TAGS[type(container)]
    if tag == "default":
        return f"default:{_factory_name(container.default_factory)}"
    if tag == "deque" and container.maxlen is not None:
        if len(container) > container.maxlen:
            raise UnsavableValue("a deque that is longer than its maximum cannot be saved")
        return f"deque:{container.maxlen}"
    return tag


def _factory_name(factory: object) -> str:
    if factory is None:
        return "None"
    for name, known in DEFAULT_FACTORIES.items():
        if factory is known:
            return name
    raise UnsavableValue(
        "a defaultdict whose factory is a function cannot be saved, since no checkpoint holds functions"
    )


def _parts(container: Any) -> Iterable[object]:
    if type(container) is ObjectForm:
        return container.parts
    if isinstance(container, dict):
        return (part for item in container.items() for part in item)  # an OrderedDict keeps its own order
    parts: Iterable[object] = container
    return parts


def _size(node: Node) -> int:
    """A lower bound of the node's size as msgpack, without a container's parts."""
    if isinstance(node, str):
        return len(node) + 5 if node.isascii() else len(node.encode()) + 5
    if isinstance(node, list):
        return 10 + sum(len(part) + 5 for part in node if isinstance(part, str))
    return 9
