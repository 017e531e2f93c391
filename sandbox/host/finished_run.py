"""The outcome of a plan that ran to its end: what it returned, and its variables, as plain data."""

from __future__ import annotations

from codeplan.sandbox.protocol.codec import RETURNED_NAME, decode
from codeplan.types import Checkpoint, Finished, ResourceUsage
from codeplan.untrusted.json_values import plain_variables


def finished(
    output: str,
    step: int | None,
    checkpoint: Checkpoint,
    entries: dict[int, Checkpoint],
    usage: ResourceUsage,
    returned: Checkpoint,
) -> Finished:
    """The outcome. ``returned`` has the plan's value under RETURNED_NAME, or is empty if it returned nothing.

    Raises CheckpointError if a checkpoint is damaged.
    """
    value, variables = plain_variables(decode(returned)), plain_variables(decode(checkpoint))
    omitted = checkpoint.dropped | variables.omitted | returned.dropped | value.omitted
    plain = value.values.get(RETURNED_NAME)
    return Finished(output, step, checkpoint, entries, usage, plain, variables.values, omitted)
