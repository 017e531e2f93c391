"""The format of a checkpoint's table, and the check that its keys can be hashed safely."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Collection, Iterator
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from codeplan.untrusted.collisions import MAX_SAME_HASH, collide

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
``deque:N`` has a maximum length, ``default:NAME`` a factory. The other tags are ``int``, ``float``, ``bytes`` and
``text``.
"""

DEFAULT_FACTORIES: Final = {t.__name__: t for t in (bool, int, float, str, bytes, list, tuple, dict, set, frozenset)}
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
    return type(node) is list and node[0] in IMMUTABLE_TAGS


def _key_nodes(node: Any) -> list[int]:
    """The numbers of the nodes that a container hashes."""
    if type(node) is not list or not node:
        return []
    kind = node[0].partition(":")[0]
    return node[1:] if kind in ("set", "frozenset") else node[1::2] if kind in _DICT_TAGS else []
