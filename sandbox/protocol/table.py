"""The form of a checkpoint's table, and which of its nodes can be hashed without harm."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, TypeAlias

import msgspec

SAFE_INT: Final = 2**53
"""Whole numbers from here on are texts in the table: JSON knows no others that every reader keeps."""

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
"""The tags of the containers that are filled after they are made. ``tuple`` and ``frozenset`` are made full;
``deque:N`` has a greatest length, ``default:NAME`` a factory. Besides these there are ``int``, ``float``, ``bytes``
and ``text``."""

DEFAULT_FACTORIES: Final = {t.__name__: t for t in (bool, int, float, str, bytes, list, tuple, dict, set, frozenset)}
"""What a saved defaultdict may make its missing values with; ``default:None`` has no factory."""

MAX_NODES: Final = 50_000
MAX_NAMES: Final = 1_000
"""Variables that a checkpoint names, saved and dropped together; those beyond are only counted, under ``OTHERS``."""

OTHERS_KEY: Final = "*"
MAX_REASON_CHARS: Final = 200
"""Characters of the reason why a variable was dropped."""

MAX_DROPPED_BYTES: Final = 64 << 10
"""Bytes of the names of dropped variables, reasons included."""

MAX_KEY_DEPTH: Final = 64
"""Tuples within tuples: CPython hashes them by unguarded recursion, so a deep one as a key would crash it."""

MAX_KEY_VALUES: Final = 100_000
"""Values within a tuple, each counted as often as it is reached: so long does hashing it take."""

IMMUTABLE_TAGS: Final = frozenset({"tuple", "frozenset"})
"""The tags of what is made full, parts before wholes."""


class UnsavableValue(Exception):
    """Why a value is not saved."""


class KeyChecker:
    """Which nodes can be hashed without harm: how deep and how heavy the tuples and frozen sets are."""

    def __init__(self, nodes: list[Any]) -> None:
        self._nodes = nodes
        self._measured: dict[int, tuple[int, int]] = {}

    def check(self, start: int = 0) -> None:
        """Raise Unsavable where a tuple from node ``start`` on is too deep or too heavy, or holds itself."""
        for at in range(start, len(self._nodes)):
            if _is_immutable(self._nodes[at]) and at not in self._measured:
                self._measure(at)

    def forget(self, start: int) -> None:
        """Drop what is known of the nodes from ``start`` on."""
        for at in [at for at in self._measured if at >= start]:
            del self._measured[at]

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
    return type(node) is list and node[0] in IMMUTABLE_TAGS
