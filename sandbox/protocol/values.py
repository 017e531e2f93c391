"""Packs the plain data that a plan and its agent exchange: trees without aliases, of exact builtin types.

None, bool, float, str and 64-bit ints stand for themselves; everything else is a list that begins with a tag. Unpacking
always creates a copy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from codeplan.plain_data import MAX_DEPTH, MAX_INT_BITS, MAX_SAME_HASH, MAX_VALUES, NotPlainData, collide
from codeplan.untrusted.texts import escape_surrogates as escape_surrogates
from codeplan.untrusted.texts import with_article

HALF_PAIR: Final = "half of a surrogate pair, which is not text; remove it"
"""What a plan may not give to an agent, in words that follow "was given"."""

_INT64_BOUND: Final = 2**63
SCALAR_TYPES: Final = frozenset({type(None), str, bool, int, float})
_CONTAINERS: Final = (list, tuple, dict)
_PACKED_AS_IS: Final = frozenset({type(None), bool, float})


def _nested_lists(deepest: int) -> Any:
    kind: Any = bool | int | float | str | None
    for _ in range(deepest):
        kind = bool | int | float | str | list[kind] | None
    return kind


if TYPE_CHECKING:
    Crossing: TypeAlias = Any
else:
    Crossing = _nested_lists(MAX_DEPTH + 1)  # the innermost list may be a tagged number or text
"""A packed value as a type for decoding: scalars and nested lists, so that decoding hashes nothing."""


def pack_value(value: object) -> object:
    """Pack a value. Subclasses of plain types become those types. Raises NotPlainData."""
    if type(value) is str:
        return value if value.isascii() else _pack_text(value)
    return value if type(value) in _PACKED_AS_IS else _Packer().pack(value, 0)


def unpack_value(packed: object) -> object:
    """Unpack a value. Raises NotPlainData for anything that ``pack_value`` never produces."""
    return packed if type(packed) in SCALAR_TYPES else _Unpacker().unpack(packed, 0)


def holds_half_pair(packed: object) -> bool:
    """Whether a packed value holds a text with half of a surrogate pair, which is not Unicode."""
    return type(packed) is list and (packed[0] == "text" or any(map(holds_half_pair, packed[1:])))


class _ValueCounter:
    """Counts values during packing and unpacking, which stops wide, deep and endless trees."""

    def __init__(self) -> None:
        self._left = MAX_VALUES - 1  # without the outermost value

    def _count(self, parts: int, depth: int) -> None:
        """Count the parts of a container, which are nested in ``depth`` containers."""
        self._left -= parts
        if self._left < 0:
            raise NotPlainData(f"more than {MAX_VALUES:,} values")
        if depth > MAX_DEPTH and parts:
            raise NotPlainData(f"a value nested deeper than {MAX_DEPTH}")


class _Packer(_ValueCounter):
    def pack(self, value: object, depth: int) -> object:
        """Pack a value that is counted already."""
        if isinstance(value, _CONTAINERS):
            return self._container(value, depth + 1)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return _pack_text(str.__str__(value))
        if isinstance(value, int):
            whole = int.__int__(value)
            return whole if -_INT64_BOUND <= whole < _INT64_BOUND else ["int", hex(_bounded(whole))]
        if isinstance(value, float):
            return float.__float__(value)
        raise NotPlainData(f"{with_article(type(value).__name__)}, which is not plain data")

    def _container(self, value: list[object] | tuple[object, ...] | dict[object, object], depth: int) -> object:
        if isinstance(value, list):
            self._count(list.__len__(value), depth)
            return self._parts("list", list.__iter__(value), depth)
        if isinstance(value, tuple):
            self._count(tuple.__len__(value), depth)
            return self._parts("tuple", tuple.__iter__(value), depth)
        self._count(2 * dict.__len__(value), depth)
        _require_spread(dict.keys(value))
        return self._parts("dict", chain.from_iterable(dict.items(value)), depth)

    def _parts(self, tag: str, values: Iterator[object], depth: int) -> list[object]:
        packed: list[object] = [tag]
        packed += [
            v if (kind := type(v)) in _PACKED_AS_IS or (kind is str and v.isascii()) else self.pack(v, depth)  # type: ignore[attr-defined]
            for v in values
        ]
        return packed


def _bounded(whole: int) -> int:
    if whole.bit_length() > MAX_INT_BITS:
        raise NotPlainData(f"a whole number of more than {MAX_INT_BITS:,} bits")
    return whole


def _pack_text(value: str) -> object:
    try:
        value.encode()
    except UnicodeEncodeError:
        return ["text", value.encode("utf-8", "surrogatepass").hex()]
    return value


class _Unpacker(_ValueCounter):
    def unpack(self, packed: Any, depth: int) -> object:
        """Unpack a value that is counted already."""
        if type(packed) in SCALAR_TYPES:
            return packed
        if type(packed) is not list or not packed or type(packed[0]) is not str:
            raise NotPlainData("an unknown form")
        tag = packed[0]
        if tag in ("int", "text"):
            return _unpack_text(tag, packed)
        depth += 1
        self._count(len(packed) - 1, depth)
        parts = [p if type(p) in SCALAR_TYPES else self.unpack(p, depth) for p in packed[1:]]
        if tag == "list":
            return parts
        if tag == "tuple":
            return tuple(parts)
        if tag == "dict" and len(parts) % 2 == 0:
            return _build_dict(parts)
        raise NotPlainData("an unknown form")


def _build_dict(parts: list[object]) -> dict[object, object]:
    keys = parts[::2]
    try:
        _require_spread(keys)
        return dict(zip(keys, parts[1::2], strict=True))
    except TypeError:
        raise NotPlainData("a key that cannot be hashed") from None


def _require_spread(keys: Collection[object]) -> None:
    """Raise NotPlainData if too many keys have one hash: the other side could not build the dict quickly."""
    if collide(keys):
        raise NotPlainData(f"a dict with more than {MAX_SAME_HASH} keys of the same hash")


def _unpack_text(tag: str, packed: list[Any]) -> int | str:
    if len(packed) != 2 or type(packed[1]) is not str:
        raise NotPlainData("an unknown form")
    try:
        if tag == "int":
            return _bounded(int(packed[1], 16))
        return bytes.fromhex(packed[1]).decode("utf-8", "surrogatepass")
    except ValueError:
        raise NotPlainData("an unknown form") from None
