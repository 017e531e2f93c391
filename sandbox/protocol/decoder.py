"""Decodes a checkpoint's table. The table is untrusted, so every index, tag, text and key is verified."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any, Final

from codeplan.errors import SandboxError
from codeplan.sandbox.limits import MAX_NAME_CHARS
from codeplan.sandbox.protocol.checkpoint_table import (
    CONTAINER_TYPES,
    DEFAULT_FACTORIES,
    IMMUTABLE_TAGS,
    MAX_NAMES,
    MAX_NODES,
    MAX_REASON_CHARS,
    SAFE_INT,
    KeyChecker,
    UnsavableValue,
    check_collisions,
)
from codeplan.types import Checkpoint


class CheckpointError(SandboxError):
    """A checkpoint that ``encode`` never produces; the message names the node and the problem."""


def decode(checkpoint: Checkpoint) -> dict[str, object]:
    """The saved variables, as new objects with the original aliases.

    Compare, print and hash them with ``codeplan.untrusted`` alone: with ``==`` or ``repr``, a small table with shared
    parts can take practically forever.

    Raises CheckpointError if the table is damaged.
    """
    try:
        if len(checkpoint.names) > MAX_NAMES or len(checkpoint.dropped) > MAX_NAMES + 1:  # OTHERS_KEY is one more
            raise ValueError(f"it names more than {MAX_NAMES:,} variables")
        values = _TableDecoder(checkpoint.nodes).decode_all()
        for name, reason in checkpoint.dropped.items():
            _verify_dropped(name, reason)
        return {_verify_name(n): values[_verify_index(i, len(values))] for n, i in checkpoint.names.items()}
    except UnsavableValue as reason:
        raise CheckpointError(f"the checkpoint is damaged: it contains {reason}") from None
    except (TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        raise CheckpointError(f"the checkpoint is damaged: {error}") from None


class _TableDecoder:
    """Builds the objects of a table: scalars and empty containers, then tuples bottom-up, then the contents."""

    def __init__(self, nodes: list[Any]) -> None:
        if type(nodes) is not list or len(nodes) > MAX_NODES:
            raise ValueError(f"its nodes are not a list of at most {MAX_NODES:,}")
        self._nodes = nodes
        self._values: list[Any] = [self._scalar_or_empty(at, node) for at, node in enumerate(nodes)]

    def decode_all(self) -> list[Any]:
        """One object per node."""
        keys = KeyChecker(self._nodes)
        keys.check()
        for at in keys.bottom_up():
            parts = [self._values[p] for p in self._nodes[at][1:]]
            self._values[at] = tuple(parts) if self._nodes[at][0] == "tuple" else _frozenset(at, parts)
        for at, node in enumerate(self._nodes):
            if type(node) is list and isinstance(self._values[at], list | dict | set | deque):
                self._fill(at, self._values[at], node[1:])
        return self._values

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
        return _empty_container(at, tag, len(parts))

    def _fill(self, at: int, container: Any, parts: list[int]) -> None:
        held = [self._values[p] for p in parts]
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


def _empty_container(at: int, tag: str, parts: int) -> Any:
    """An empty container for the tag; None for a tuple or a frozen set, which is created later."""
    if tag in IMMUTABLE_TAGS:
        return None
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


def _read_text(text: str) -> str:
    return bytes.fromhex(text).decode("utf-8", "surrogatepass")


_TEXT_DECODERS: Final[dict[str, Callable[[str], Any]]] = {
    "int": _read_int,
    "float": _read_float,
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
