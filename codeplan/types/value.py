"""The base of all values."""

from __future__ import annotations

import msgspec


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of all values: frozen, and equal if their contents are."""
