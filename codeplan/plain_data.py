"""Plain data, and its packed form: the one codec between worker, host, trace and tools.

Plain data is None, bools, numbers and texts, and lists, tuples and dicts of them. Its packed form consists of what JSON
and MessagePack both hold: lists, dicts with texts as keys, and scalars. An object with one key that begins with ``$``
stands for anything else: a tuple, a large number, a text that is not Unicode, or a dict with other keys. Packing and
unpacking always make a copy.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, Final, TypeAlias

MAX_DEPTH: Final = 32
"""Maximum nesting of containers."""

MAX_VALUES: Final = 20_000
"""Maximum number of values, nested ones and keys of dicts included."""

MAX_INT_BITS: Final = 13_000
"""Maximum size of a whole number: 3,913 digits. Python writes at most 4,300 digits as text, and an agent must be able
to write every argument into an action.
"""

MAX_SAME_HASH: Final = 32
"""Maximum number of keys of one container with the same hash. Each key is compared with all earlier keys of its hash,
and numbers and tuples have the same hash in every process: a plan or a recording could choose keys with one hash.
"""

Packed: TypeAlias = Any
"""Packed plain data."""

_INT64_BOUND: Final = 2**63
_PACKED_AS_IS: Final = frozenset({type(None), bool})
_READ_AS_IS: Final = frozenset({type(None), bool, int, float, str})
_ODD_FLOATS: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class NotPlainData(Exception):
    """Says why a value cannot be packed or unpacked, in words that follow "was given" or "returned"."""


def pack(value: object) -> Packed:
    """Pack a value. Subclasses of plain types become those types. Raises: NotPlainData."""
    return value if type(value) in _PACKED_AS_IS else Packer().pack(value, 0)


def unpack(packed: Packed) -> Any:
    """Unpack a value. Raises: NotPlainData: it is nothing that ``pack`` makes, or too large."""
    return packed if type(packed) in _READ_AS_IS else _Unpacker().unpack(packed, 0)


def collide(keys: Collection[Any]) -> bool:
    """Whether more than MAX_SAME_HASH keys have the same hash. Raises: TypeError: a key cannot be hashed."""
    return len(keys) > MAX_SAME_HASH and max(Counter(map(hash, keys)).values()) > MAX_SAME_HASH


class Packer:
    """Packs one value, and counts its parts on the way. A container counts its parts before it packs them."""

    def __init__(self) -> None:
        self._left = MAX_VALUES - 1  # without the outermost value

    @property
    def left(self) -> int:
        """How many more values there may be."""
        return self._left

    def count(self, parts: int, depth: int) -> None:
        """Count the parts of a container, which are nested in ``depth`` containers. Raises: NotPlainData."""
        self._left -= parts
        if self._left < 0:
            raise NotPlainData(f"more than {MAX_VALUES:,} values")
        if depth > MAX_DEPTH and parts:
            raise NotPlainData(f"a value that contains itself, or is nested deeper than {MAX_DEPTH}")

    def pack(self, value: Any, depth: int) -> Packed:
        """Pack a value that is counted already, and nested in ``depth`` containers."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return pack_text(str.__str__(value))
        if isinstance(value, int):
            return pack_whole(int.__int__(value))
        if isinstance(value, float):
            return pack_float(float.__float__(value))
        if isinstance(value, list):
            return self.pack_list(list.__iter__(value), list.__len__(value), depth)
        if isinstance(value, tuple):
            return {"$tuple": self.pack_list(tuple.__iter__(value), tuple.__len__(value), depth)}
        if isinstance(value, dict):
            return self.pack_dict(dict.items(value), dict.__len__(value), depth)
        name = type(value).__name__
        raise NotPlainData(f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}, which is not plain data")

    def pack_list(self, values: Iterable[Any], length: int, depth: int) -> list[Packed]:
        """Pack the ``length`` values of a list."""
        depth += 1
        self.count(length, depth)
        return [v if type(v) in _PACKED_AS_IS else self.pack(v, depth) for v in values]

    def pack_dict(self, items: Iterable[tuple[Any, Any]], length: int, depth: int) -> dict[str, Packed]:
        """Pack the ``length`` items of a dict."""
        depth += 1
        self.count(2 * length, depth)
        return join_items([(self.pack(key, depth), self.pack(value, depth)) for key, value in items])


def pack_text(text: str) -> Packed:
    """Pack a text, which may hold halves of surrogate pairs."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return {"$text": text.encode("utf-8", "surrogatepass").hex()}
    return text


def pack_whole(number: int) -> Packed:
    """Pack a whole number. Raises: NotPlainData: it is too large."""
    if -_INT64_BOUND <= number < _INT64_BOUND:
        return number
    return {"$int": hex(_bounded(number))}


def pack_float(number: float) -> Packed:
    """Pack a number with a fraction."""
    return number if math.isfinite(number) else {"$float": str(number)}


def join_items(items: list[tuple[Packed, Packed]]) -> dict[str, Packed]:
    """The packed dict of packed keys and values.

    Raises: NotPlainData: a key is a list or a dict, or too many keys have one hash, so that the other side could not
    build the dict quickly.
    """
    if all(type(key) is str and key[:1] != "$" for key, _ in items):
        return dict(items)
    if any(isinstance(key, list) or (isinstance(key, dict) and ("$dict" in key or not key)) for key, _ in items):
        raise NotPlainData("a dict with a key that is not plain")
    if len(items) > MAX_SAME_HASH:
        _build_dict([unpack(key) for key, _ in items], [None] * len(items))
    return {"$dict": [[key, value] for key, value in items]}


def _bounded(whole: int) -> int:
    if whole.bit_length() > MAX_INT_BITS:
        raise NotPlainData(f"a whole number of more than {MAX_INT_BITS:,} bits")
    return whole


class _Unpacker:
    """Unpacks one value. A tag is a value and a level as well, so both limits are twice as high here."""

    def __init__(self) -> None:
        self._left = 2 * MAX_VALUES - 1  # without the outermost value

    def unpack(self, packed: Any, depth: int) -> Any:
        """Unpack data that is counted already."""
        depth += 1
        if isinstance(packed, list):
            return self._parts(packed, depth)
        if not isinstance(packed, dict):
            return packed
        if len(packed) == 1 and (tag := next(iter(packed))).startswith("$"):
            return self._untag(tag, packed[tag], depth)
        return dict(zip(packed, self._parts(packed.values(), depth), strict=True))

    def _parts(self, values: Collection[Any], depth: int) -> list[Any]:
        self._left -= len(values)
        if self._left < 0 or (depth > 2 * MAX_DEPTH + 2 and values):
            raise NotPlainData(f"more than {MAX_VALUES:,} values, or values nested deeper than {MAX_DEPTH}")
        return [v if type(v) in _READ_AS_IS else self.unpack(v, depth) for v in values]

    def _untag(self, tag: str, data: Any, depth: int) -> Any:
        try:
            match tag:
                case "$tuple" if isinstance(data, list):
                    return tuple(self._parts(data, depth))
                case "$dict" if isinstance(data, list):
                    keys, values = [key for key, _ in data], [value for _, value in data]
                    return _build_dict(self._parts(keys, depth), self._parts(values, depth))
                case "$int":
                    return _bounded(int(data, 16))
                case "$float":
                    return _ODD_FLOATS[data]
                case "$text":
                    return bytes.fromhex(data).decode("utf-8", "surrogatepass")
        except (KeyError, TypeError, ValueError):
            pass
        raise NotPlainData('an unknown form: an object whose only key begins with $ is {"$dict": [[KEY, VALUE]]}')


def _build_dict(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    """Raises: NotPlainData: too many keys have one hash. TypeError: a key cannot be hashed."""
    if collide(keys):
        raise NotPlainData(f"a dict with more than {MAX_SAME_HASH} keys of the same hash")
    return dict(zip(keys, values, strict=True))
