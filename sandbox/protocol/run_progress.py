"""The events that the host reports while a plan runs."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from codeplan.types import Checkpoint


class StepEntry(msgspec.Struct, frozen=True):
    """The plan entered a step. ``title`` is empty if unknown; ``checkpoint`` holds the variables at that moment."""

    step: int
    title: str
    checkpoint: Checkpoint


class OutputChunk(msgspec.Struct, frozen=True):
    """Text that the plan printed. Chunks arrive in order, before the next call, step or end."""

    text: str


class LineCoverage(msgspec.Struct, frozen=True):
    """Pairs of plan lines that ran one after the other in one function, each reported once. Untrusted.

    Lines count from 1. Line 0 stands for outside: a function is entered from 0 and left to 0.
    """

    arcs: list[tuple[int, int]]


Progress: TypeAlias = StepEntry | OutputChunk
"""The events that ``on_event`` receives."""
