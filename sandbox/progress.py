"""What a listener hears while a plan runs."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from codeplan.types import Checkpoint


class StepEntered(msgspec.Struct, frozen=True):
    """A step begins. ``title`` is the plan's own, empty where it is not known; ``checkpoint`` holds the variables it
    finds.
    """

    step: int
    title: str
    checkpoint: Checkpoint


class Printed(msgspec.Struct, frozen=True):
    """The plan printed this piece of text; pieces come in order, and whole before the next call, step or end."""

    text: str


Progress: TypeAlias = StepEntered | Printed
"""Either."""
