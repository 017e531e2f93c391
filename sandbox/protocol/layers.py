"""What a worker reports of its own lockdown."""

from __future__ import annotations

import msgspec


class Layer(msgspec.Struct, frozen=True):
    """One layer of the cage on this machine: whether it is there, and how it looks or why it is missing."""

    name: str
    present: bool
    detail: str
