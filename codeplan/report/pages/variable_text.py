"""A plan's variables as text for the page."""

from __future__ import annotations

from codeplan.report.pages.visible_text import make_visible
from codeplan.sandbox import CheckpointError, decode
from codeplan.types import Checkpoint
from codeplan.untrusted import variables
from codeplan.untrusted.variables import VariableTexts

MAX_CHARACTERS = 60_000
"""The room of all variables of one checkpoint on a page."""


def variable_texts(checkpoint: Checkpoint, max_each: int) -> VariableTexts:
    """The saved variables as text, each of at most ``max_each`` characters; none if the checkpoint is damaged."""
    try:
        decoded = decode(checkpoint)
    except CheckpointError:
        return VariableTexts({}, [], 0, False)
    return variables.variable_texts(decoded, MAX_CHARACTERS, max_each=max_each)


def dropped_variables(checkpoint: Checkpoint) -> dict[str, str]:
    """The variables that were not saved, with reasons; if the checkpoint is damaged, the damage."""
    try:
        decode(checkpoint)
    except CheckpointError as e:
        return {"": make_visible(str(e))}
    return {make_visible(name): make_visible(reason) for name, reason in checkpoint.dropped.items()}
