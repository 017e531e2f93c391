"""A plan's variables as data, and back: a flat table of tagged nodes that nothing can execute.

Only exact builtin types are saved: None, bool, int, float, str, bytes, list, tuple, dict, set, frozenset, and the two
containers of ``collections`` that plans may use (Counter, and defaultdict over a builtin type). Aliases and cycles are
kept, also between variables. A variable that reaches anything else is dropped whole and named, with the reason.

A node is None, a bool, an int below 2**53, a finite float or a str as itself; everything else is a list whose first
item is a tag (see TAGS), followed by the numbers of its parts' nodes, or by one text.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from codeplan.errors import SandboxError
from codeplan.types import Checkpoint

Node: TypeAlias = None | bool | int | float | str | list[int | str]
"""One row of the table."""

TAGS: Final = {list: "list", tuple: "tuple", dict: "dict", set: "set", frozenset: "frozenset", Counter: "counter"}
"""The tag of each container; besides these ``int``, ``float``, ``bytes`` and ``text`` with a text, and ``default:NAME``."""

FACTORIES: Final[dict[str, Callable[[], Any]]] = {
    t.__name__: t for t in (bool, int, float, str, bytes, list, tuple, dict, set, frozenset)
} | {"None": lambda: None}
"""What a saved defaultdict may make its missing values with; ``None`` stands for no factory."""

MOST_NODES: Final = 50_000
DEEPEST_KEY: Final = 64
"""Tuples within tuples: CPython hashes them by unguarded recursion, so a deep one as a key would crash it."""

HEAVIEST_KEY: Final = 100_000
"""Values within a tuple, each counted as often as it is reached: so long does hashing it take."""

_SAFE_INT: Final = 2**53
_UNHASHABLE: Final = frozenset({"list", "dict", "set", "counter"})
_FIXED: Final = frozenset({"tuple", "frozenset"})


class CheckpointError(SandboxError):
    """A checkpoint is not one that ``encode`` can have made: what is wrong, and with which node."""


class Unsavable(Exception):
    """Why a value is not saved."""


def encode(variables: dict[str, object], max_bytes: int) -> Checkpoint:
    """Save the variables in at most ``max_bytes``, as they travel; what cannot be saved is named in ``dropped``."""
    table = _Table(max_bytes)
    names: dict[str, int] = {}
    dropped: dict[str, str] = {}
    for name, value in variables.items():
        try:
            names[name] = table.add(name, value)
        except Unsavable as reason:
            dropped[name] = str(reason)
    return Checkpoint(names, table.nodes, dropped)


def decode(checkpoint: Checkpoint) -> dict[str, object]:
    """The saved variables, as new objects. Raises CheckpointError where the table is damaged."""
    try:
        values = _Reader(checkpoint.nodes).values()
        return {_name(n): values[_index(i, len(values))] for n, i in checkpoint.names.items()}
    except (TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        raise CheckpointError(f"the checkpoint is damaged: {error}") from None


# ------------------------------------------------------------------ writing


class _Table:
    """The table as it grows. A value that turns out unsavable leaves no trace in it."""

    def __init__(self, max_bytes: int) -> None:
        self.nodes: list[Any] = []
        self._max_bytes = max_bytes
        self._room = max_bytes
        self._seen: dict[int, int] = {}
        self._keys = _Keys(self.nodes)
        self._pending: list[tuple[int, Any]] = []

    def add(self, name: str, value: object) -> int:
        """The number of the value's node. Raises Unsavable."""
        mark, room, seen = len(self.nodes), self._room, len(self._seen)
        try:
            self._spend(len(name) * 4 + 10)
            root = self._place(value)
            while self._pending:
                self._fill(*self._pending.pop())
            self._keys.check(mark)
        except Unsavable:
            self._undo(mark, room, seen)
            raise
        return root

    def _undo(self, mark: int, room: int, seen: int) -> None:
        del self.nodes[mark:]
        self._room = room
        self._pending.clear()
        self._keys.forget(mark)
        for key in list(self._seen)[seen:]:
            del self._seen[key]

    def _place(self, value: Any) -> int:
        """The number of a value's node; a container's is filled later, so that depth and cycles cost no recursion."""
        kind = type(value)
        if kind in _SCALARS:
            return self._append(_SCALARS[kind](value))
        known = self._seen.get(id(value))
        if known is not None:
            return known
        self._seen[id(value)] = len(self.nodes)
        if kind is str:
            return self._append(_text(value))
        if kind is bytes:
            return self._append(["bytes", value.hex()])
        if kind not in TAGS and kind is not defaultdict:
            raise Unsavable(f"a {kind.__name__} cannot be saved")
        self._spend(5 * len(value))
        self._pending.append((len(self.nodes), value))
        return self._append([_tag(value)])

    def _append(self, node: Node) -> int:
        self._spend(_size(node))
        if len(self.nodes) >= MOST_NODES:
            raise Unsavable(f"more than {MOST_NODES:,} values")
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _fill(self, at: int, container: Any) -> None:
        self.nodes[at].extend(map(self._place, _parts(container)))

    def _spend(self, size: int) -> None:
        self._room -= size
        if self._room < 0:
            raise Unsavable(f"larger than the {self._max_bytes:,} bytes that a checkpoint may take")


def _whole(value: int) -> Node:
    return value if -_SAFE_INT < value < _SAFE_INT else ["int", hex(value)]


def _fraction(value: float) -> Node:
    return value if math.isfinite(value) else ["float", repr(value)]


def _same(value: Any) -> Node:
    return value  # type: ignore[no-any-return]  # None or a bool


def _text(value: str) -> Node:
    """The text itself; one with lone surrogates, which UTF-8 has no form for, as hexadecimal digits."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return ["text", value.encode("utf-8", "surrogatepass").hex()]
    return value


_SCALARS: Final[dict[type, Callable[[Any], Node]]] = {type(None): _same, bool: _same, int: _whole, float: _fraction}


def _tag(container: Any) -> str:
    if type(container) is not defaultdict:
        return TAGS[type(container)]
    factory = container.default_factory
    name = "None" if factory is None else next((n for n, f in FACTORIES.items() if f is factory), None)
    if name is None:
        raise Unsavable("a defaultdict whose factory is not a builtin type cannot be saved")
    return f"default:{name}"


def _parts(container: Any) -> Iterable[object]:
    if isinstance(container, dict):
        return (part for item in dict.items(container) for part in item)
    return iter(container)


def _size(node: Node) -> int:
    """At least the bytes that the node takes as msgpack, without a container's parts."""
    if isinstance(node, str):
        return len(node) + 5 if node.isascii() else len(node.encode()) + 5
    if isinstance(node, list):
        return 10 + sum(len(part) + 5 for part in node if isinstance(part, str))
    return 9


# ------------------------------------------------------------------ keys


class _Keys:
    """Which nodes can be hashed without harm: how deep and how heavy the tuples and frozen sets are."""

    def __init__(self, nodes: list[Any]) -> None:
        self._nodes = nodes
        self._measured: dict[int, tuple[int, int]] = {}

    def check(self, start: int = 0) -> None:
        """Raise Unsavable where a tuple from node ``start`` on is too deep or too heavy, or holds itself."""
        for at in range(start, len(self._nodes)):
            if _is_fixed(self._nodes[at]) and at not in self._measured:
                self._measure(at)

    def forget(self, start: int) -> None:
        """Drop what is known of the nodes from ``start`` on."""
        for at in [at for at in self._measured if at >= start]:
            del self._measured[at]

    def order(self) -> Iterator[int]:
        """The tuples and frozen sets, parts before wholes."""
        return iter(self._measured)

    def _measure(self, top: int) -> None:
        path = [top]
        while path:
            parts = self._nodes[path[-1]][1:]
            missing = next((p for p in parts if p not in self._measured and _is_fixed(self._nodes[p])), None)
            if missing is None:
                self._measured[path.pop()] = self._sum(parts)
            elif len(path) > DEEPEST_KEY:
                raise Unsavable(f"tuples nested deeper than {DEEPEST_KEY}")
            else:
                path.append(missing)

    def _sum(self, parts: list[int]) -> tuple[int, int]:
        known = [self._measured.get(p, (0, 1)) for p in parts]
        depth, weight = 1 + max((d for d, _ in known), default=0), 1 + sum(w for _, w in known)
        if depth > DEEPEST_KEY:
            raise Unsavable(f"tuples nested deeper than {DEEPEST_KEY}")
        if weight > HEAVIEST_KEY:
            raise Unsavable(f"a tuple of more than {HEAVIEST_KEY:,} values")
        return depth, weight


def _is_fixed(node: Any) -> bool:
    return type(node) is list and node[0] in _FIXED


# ------------------------------------------------------------------ reading


class _Reader:
    """Builds the objects of a table: scalars and empty containers, then tuples bottom-up, then what containers hold."""

    def __init__(self, nodes: list[Any]) -> None:
        if type(nodes) is not list or len(nodes) > MOST_NODES:
            raise ValueError(f"its nodes are not a list of at most {MOST_NODES:,}")
        self._nodes = nodes
        self._values: list[Any] = [self._shell(at, node) for at, node in enumerate(nodes)]

    def values(self) -> list[Any]:
        """One object per node."""
        keys = _Keys(self._nodes)
        try:
            keys.check()
        except Unsavable as reason:
            raise ValueError(f"it holds {reason}") from None
        for at in keys.order():
            parts = [self._values[p] for p in self._nodes[at][1:]]
            self._values[at] = tuple(parts) if self._nodes[at][0] == "tuple" else _frozen(at, parts)
        for at, node in enumerate(self._nodes):
            if type(node) is list and isinstance(self._values[at], list | dict | set):
                self._fill(at, self._values[at], node[1:])
        return self._values

    def _shell(self, at: int, node: Any) -> Any:
        if node is None or type(node) in (bool, int, float, str):
            return node
        if type(node) is not list or not node or type(node[0]) is not str:
            raise ValueError(f"node {at} has no known form")
        tag, parts = node[0], node[1:]
        if tag in _READERS:
            return _READERS[tag](_only_text(at, parts))
        for part in parts:
            _index(part, len(self._nodes))
        return _empty(at, tag, len(parts))

    def _fill(self, at: int, container: Any, parts: list[int]) -> None:
        held = [self._values[p] for p in parts]
        if isinstance(container, list):
            container.extend(held)
            return
        if isinstance(container, set):
            container.update(held)
        else:
            dict.update(container, zip(held[::2], held[1::2], strict=True))
        if len(container) != (len(held) if isinstance(container, set) else len(held) // 2):
            raise ValueError(f"node {at} holds a key twice")


def _empty(at: int, tag: str, parts: int) -> Any:
    """An empty container for the tag; None for a tuple or a frozen set, which is made later."""
    if tag in _FIXED:
        return None
    if tag in ("list", "set"):
        return [] if tag == "list" else set()
    if parts % 2:
        raise ValueError(f"node {at} has a key without a value")
    if tag in ("dict", "counter"):
        return {} if tag == "dict" else Counter()
    kind, _, name = tag.partition(":")
    if kind != "default" or name not in FACTORIES:
        raise ValueError(f"node {at} has an unknown tag")
    return defaultdict(None if name == "None" else FACTORIES[name])


def _frozen(at: int, parts: list[Any]) -> frozenset[Any]:
    made = frozenset(parts)
    if len(made) != len(parts):
        raise ValueError(f"node {at} holds a value twice")
    return made


def _read_int(text: str) -> int:
    value = int(text, 16)
    if hex(value) != text:
        raise ValueError("a number is not written as encode writes it")
    return value


def _read_float(text: str) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise ValueError("a number is not written as encode writes it")
    return float(text)


def _read_text(text: str) -> str:
    return bytes.fromhex(text).decode("utf-8", "surrogatepass")


_READERS: Final[dict[str, Callable[[str], Any]]] = {
    "int": _read_int,
    "float": _read_float,
    "bytes": bytes.fromhex,
    "text": _read_text,
}


def _only_text(at: int, parts: list[Any]) -> str:
    if len(parts) != 1 or type(parts[0]) is not str:
        raise ValueError(f"node {at} is not one text")
    return parts[0]


def _index(part: Any, count: int) -> int:
    if type(part) is not int or not 0 <= part < count:
        raise ValueError(f"{part!r:.40} is not the number of a node")
    return part


def _name(name: Any) -> str:
    if type(name) is not str or not name.isidentifier():
        raise ValueError(f"{name!r:.40} is not the name of a variable")
    return name
