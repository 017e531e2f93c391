"""The outcome of one run of a plan."""

from __future__ import annotations

from codeplan.types.plan import Checkpoint
from codeplan.types.value import Value


class ResourceUsage(Value, frozen=True):
    """What a run used: seconds of wall and CPU time in the worker, characters printed, calls and asks made."""

    wall: float = 0.0
    cpu: float = 0.0
    output: int = 0
    calls: int = 0
    asks: int = 0


class Finished(Value, frozen=True, tag="finished"):
    """The plan ran to its end (which says nothing of success: that is the environment's word)."""

    output: str
    step: int | None
    checkpoint: Checkpoint
    entries: dict[int, Checkpoint]
    usage: ResourceUsage


class Failed(Value, frozen=True, tag="failed"):
    """An assertion failed, or the plan raised. ``step`` is the runtime's own count, never the message's claim.

    ``error`` is ``"AssertionError"`` or the name of the exception; ``checkpoint`` holds the variables at the
    failure, ``entries`` those at the entry of each step that was reached. ``step`` is None outside all steps.
    """

    step: int | None
    line: int | None
    error: str
    message: str
    output: str
    checkpoint: Checkpoint
    entries: dict[int, Checkpoint]
    usage: ResourceUsage


class Stopped(Value, frozen=True, tag="stopped"):
    """A limit ended the run: ``limit`` names the field of ``Limits``, ``value`` was spent, ``allowed`` is the limit.

    ``limit`` is ``"worker"`` when the worker died or broke the protocol, ``"episode"`` when the plan acted on after
    the environment's end. ``checkpoint`` is None where the worker had to be killed.
    """

    limit: str
    value: float
    allowed: float
    step: int | None
    line: int | None
    message: str
    output: str
    checkpoint: Checkpoint | None
    entries: dict[int, Checkpoint]
    usage: ResourceUsage


Outcome = Finished | Failed | Stopped
