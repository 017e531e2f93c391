"""What a worker reports about its lockdown."""

from __future__ import annotations

import msgspec


class Layer(msgspec.Struct, frozen=True):
    """One layer of the cage on this machine. ``detail`` describes it, or says why it is missing."""

    name: str
    present: bool
    detail: str
