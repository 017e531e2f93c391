"""What a worker reports about its lockdown."""

from __future__ import annotations

from typing import Final

import msgspec

OPTIONAL_LAYERS: Final = ("user-namespace", "mount-namespace", "network-namespace", "ipc-namespace", "pid-namespace")
"""The layers that plans run without, because many machines do not allow them. All others are necessary."""


class Layer(msgspec.Struct, frozen=True):
    """One layer of the cage on this machine. ``detail`` describes it, or says why it is missing."""

    name: str
    present: bool
    detail: str

    @property
    def optional(self) -> bool:
        """Whether plans run without this layer."""
        return self.name in OPTIONAL_LAYERS
