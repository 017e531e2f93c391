"""What a listener hears while a plan runs."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from codeplan.types.plan import Checkpoint


class StepEntry(msgspec.Struct, frozen=True):
    """A step begins. ``title`` is the plan's own, empty where it is not known; ``checkpoint`` holds the variables it
    finds.
    """

    step: int
    title: str
    checkpoint: Checkpoint


class OutputChunk(msgspec.Struct, frozen=True):
    """The plan printed this piece of text; pieces come in order, and whole before the next call, step or end."""

    text: str


class LineCoverage(msgspec.Struct, frozen=True):
    """Pairs of the plan's lines that ran one after the other in one function, each told once. Untrusted.

    Lines count from 1; 0 is outside: a function is entered from there, and left to there.
    """

    arcs: list[tuple[int, int]]


Progress: TypeAlias = StepEntry | OutputChunk
"""Either."""
