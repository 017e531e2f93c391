"""The base of all values."""

from __future__ import annotations

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
"""A number of things. A file from elsewhere cannot hold one that is too large to calculate with."""

Seed = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number of 64 bits: the sandbox seeds a plan's random numbers with it."""

MAX_AMOUNT = 1e100
"""The greatest amount, in either direction."""

Amount = Annotated[float, msgspec.Meta(ge=-MAX_AMOUNT, le=MAX_AMOUNT)]
"""Seconds, money or a reward, with the same limit."""


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of all values: frozen, and equal if their contents are."""
