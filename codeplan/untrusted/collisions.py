"""Detects keys that would make a dict or a set slow: each key is compared with all earlier keys of the same hash.

Numbers and tuples have the same hash in every process, so a plan or a recording can choose keys with one hash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any, Final

MAX_SAME_HASH: Final = 32
"""Maximum number of keys of one container with the same hash."""


def collide(keys: Collection[Any]) -> bool:
    """Whether more than MAX_SAME_HASH keys have the same hash. Raises: TypeError: a key cannot be hashed."""
    return len(keys) > MAX_SAME_HASH and max(Counter(map(hash, keys)).values()) > MAX_SAME_HASH
