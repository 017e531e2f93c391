"""Plain data in a frame: a scalar stands for itself, anything else is the JSON of its packed form, as a tuple of bytes.

The packed form and its limits are those of ``codeplan.plain_data``; unpacking always creates a copy. JSON has texts
alone as keys, so that decoding hashes nothing that a plan can choose to have one hash.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from codeplan.plain_data import NotPlainData, pack, unpack
from codeplan.untrusted.texts import escape_surrogates as escape_surrogates
from codeplan.untrusted.texts import is_utf8

HALF_PAIR: Final = "half of a surrogate pair, which is not text; remove it"
"""What a plan may not give to an agent, in words that follow "was given"."""

SCALAR_TYPES: Final = frozenset({type(None), str, bool, int, float})

Crossing: TypeAlias = bool | int | float | str | tuple[bytes] | None
"""A value in a frame."""

_INT64_BOUND: Final = 2**63
_AT_ONCE: Final = frozenset({type(None), bool, float})
_HALF_PAIR_MARK: Final = b'{"$text":'  # within a text, JSON writes \\" for a quotation mark


def pack_value(value: object) -> Crossing:
    """A value as it stands in a frame. Subclasses of plain types become those types. Raises: NotPlainData."""
    kind = type(value)
    if kind in _AT_ONCE:
        return value  # type: ignore[return-value]
    if isinstance(value, str) and kind is str and is_utf8(value):
        return value
    if isinstance(value, int) and kind is int and -_INT64_BOUND <= value < _INT64_BOUND:
        return value
    return (msgspec.json.encode(pack(value)),)


def unpack_value(packed: Crossing) -> object:
    """The value in a frame. Raises: NotPlainData for anything that ``pack_value`` never produces."""
    if type(packed) is not tuple:
        return packed
    try:
        return unpack(msgspec.json.decode(packed[0]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NotPlainData("an unknown form") from None


def holds_half_pair(packed: Crossing) -> bool:
    """Whether a value in a frame holds a text with half of a surrogate pair, which is not Unicode."""
    return type(packed) is tuple and _HALF_PAIR_MARK in packed[0]
