"""Saves a plan's variables as data, a flat table of tagged nodes that nothing can execute.

Only exact types are saved: None, bool, int, float, str, bytes, list, tuple, dict, set, frozenset, and Counter,
OrderedDict, deque and defaultdict (over a builtin type). Aliases and cycles are kept, also between variables. A
variable that contains anything else is dropped as a whole, and listed with the reason.

None, bools, ints below 2**53, finite floats and texts are nodes by themselves. Every other node is a list of a tag
(see ``table``), then the node numbers of its parts or one text.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from codeplan.sandbox.limits import MAX_NAME_CHARS
from codeplan.sandbox.protocol.checkpoint_table import (
    DEFAULT_FACTORIES,
    MAX_DROPPED_BYTES,
    MAX_NAMES,
    MAX_NODES,
    MAX_REASON_CHARS,
    OTHERS_KEY,
    SAFE_INT,
    KeyChecker,
    Node,
    UnsavableValue,
    check_collisions,
)
from codeplan.sandbox.protocol.decoder import CheckpointError, decode
from codeplan.types import Checkpoint
from codeplan.untrusted.noun_phrases import with_article, with_count

__all__ = ["CheckpointError", "Node", "decode", "encode"]

_BYTES_PER_PART: Final = 3
_TAGS: Final[dict[Any, str]] = {
    **{kind: kind.__name__ for kind in (list, tuple, dict, set, frozenset, deque)},
    **{Counter: "counter", OrderedDict: "ordered", defaultdict: "default"},
}


def encode(variables: dict[str, object], max_bytes: int) -> Checkpoint:
    """Save the variables in at most ``max_bytes``; ``dropped`` names what cannot be saved.

    Names and reasons of dropped variables take at most MAX_DROPPED_BYTES. The rest are counted under OTHERS_KEY.
    """
    table = _TableBuilder(max_bytes)
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

    def __init__(self, max_bytes: int) -> None:
        self.nodes: list[Any] = []
        self._max_bytes = max_bytes
        self._free_bytes = max_bytes
        self._seen: dict[int, int] = {}
        self._keys = KeyChecker(self.nodes)
        self._pending: list[tuple[int, Any]] = []

    def add(self, name: str, value: object) -> int:
        """Add a value and return its node's number. Raises UnsavableValue."""
        mark, room, seen = len(self.nodes), self._free_bytes, len(self._seen)
        try:
            self._reserve(len(name) * 4 + 10)
            root = self._place(value)
            while self._pending:
                self._fill(*self._pending.pop())
            self._keys.check(mark)
        except UnsavableValue:
            self._roll_back(mark, room, seen)
            raise
        return root

    def _roll_back(self, mark: int, room: int, seen: int) -> None:
        del self.nodes[mark:]
        self._free_bytes = room
        self._pending.clear()
        self._keys.forget(mark)
        while len(self._seen) > seen:
            self._seen.popitem()

    def _place(self, value: Any) -> int:
        """Return the number of a value's node. Containers are filled later, so depth and cycles cost no recursion."""
        kind = type(value)
        if kind in _SCALAR_NODES:
            return self._append(_SCALAR_NODES[kind](value))
        known = self._seen.get(id(value))
        if known is not None:
            return known
        if kind in (str, bytes) and len(value) > self._free_bytes:
            self._reserve(len(value))  # checked before a copy is made
        self._seen[id(value)] = len(self.nodes)
        if kind is str:
            return self._append(_text_node(value))
        if kind is bytes:
            return self._append(["bytes", value.hex()])
        if kind not in _TAGS:
            raise UnsavableValue(f"{with_article(kind.__name__)} cannot be saved")
        if len(self.nodes) + len(value) > MAX_NODES:
            raise UnsavableValue(f"more than {MAX_NODES:,} values")
        self._reserve(_BYTES_PER_PART * len(value) * (2 if isinstance(value, dict) else 1))
        self._pending.append((len(self.nodes), value))
        return self._append([_tag(value)])

    def _append(self, node: Node) -> int:
        self._reserve(_size(node))
        if len(self.nodes) >= MAX_NODES:
            raise UnsavableValue(f"more than {MAX_NODES:,} values")
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _fill(self, at: int, container: Any) -> None:
        if isinstance(container, dict | set | frozenset):
            check_collisions(container)
        self.nodes[at].extend(map(self._place, _parts(container)))

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
}


def _tag(container: Any) -> str:
    tag = _TAGS[type(container)]
    if tag == "default":
        return f"default:{_factory_name(container.default_factory)}"
    if tag == "deque" and container.maxlen is not None:
        return f"deque:{container.maxlen}"
    return tag


def _factory_name(factory: object) -> str:
    if factory is None:
        return "None"
    for name, known in DEFAULT_FACTORIES.items():
        if factory is known:
            return name
    raise UnsavableValue("a defaultdict whose factory is not a builtin type cannot be saved")


def _parts(container: Any) -> Iterable[object]:
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
