"""A plan's variables as text for the page."""

from __future__ import annotations

from codeplan.report.pages.visible_text import make_visible
from codeplan.sandbox import CheckpointError, decode
from codeplan.types import Checkpoint
from codeplan.untrusted.values import value_text


def variable_texts(checkpoint: Checkpoint, max_characters: int) -> dict[str, str]:
    """Each saved variable as text of about ``max_characters`` at most; empty if the checkpoint is damaged."""
    try:
        decoded = decode(checkpoint)
    except CheckpointError:
        return {}
    return {make_visible(name): value_text(value, max_characters) for name, value in decoded.items()}


def dropped_variables(checkpoint: Checkpoint) -> dict[str, str]:
    """The variables that were not saved, with reasons; if the checkpoint is damaged, the damage."""
    try:
        decode(checkpoint)
    except CheckpointError as e:
        return {"": make_visible(str(e))}
    return {make_visible(name): make_visible(reason) for name, reason in checkpoint.dropped.items()}
