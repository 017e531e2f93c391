"""A worker's report about the layers of its lockdown."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from codeplan.sandbox.limits import MAX_MESSAGE_CHARS, MAX_NAME_CHARS

OPTIONAL_LAYERS: Final = ("user-namespace", "mount-namespace", "network-namespace", "ipc-namespace", "pid-namespace")
"""The optional layers, which many machines do not allow. All other layers are necessary."""


class Layer(msgspec.Struct, frozen=True):
    """One layer of the cage on this machine. ``detail`` describes it, or says why it is missing."""

    name: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]
    present: bool
    detail: Annotated[str, msgspec.Meta(max_length=MAX_MESSAGE_CHARS)]

    @property
    def optional(self) -> bool:
        """Whether plans run without this layer."""
        return self.name in OPTIONAL_LAYERS
