"""The host's side of merging a reply that holds only steps: it verifies the worker's answer."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Final

import msgspec

from codeplan.sandbox.language.plan_outline import MAX_STEP
from codeplan.sandbox.limits import MAX_STEPS
from codeplan.types import Diagnostic, Rejected
from codeplan.types.value import Value

_Number = Annotated[int, msgspec.Meta(ge=-1, le=MAX_STEP)]


class MergedReply(Value, frozen=True):
    """The previous plan with the reply's ``steps`` (their numbers) in place of its own."""

    source: str
    steps: tuple[int, ...]


class _MergedRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    source: str
    steps: Annotated[tuple[_Number, ...], msgspec.Meta(max_length=MAX_STEPS)]


STEPS_ALONE: Final = "steps-alone"
"""The check's rule for steps without a plan to merge them into."""

NOT_MERGED: Final = Diagnostic(
    0, 0, STEPS_ALONE, "the reply's steps cannot be merged into the plan before them; write the whole plan"
)


def verified_merging(findings: object, reply: str) -> MergedReply | Rejected | None:
    """The worker's verified answer: the merged plan, None if the reply is a whole plan, or a refusal of ``reply``."""
    if findings is None or isinstance(findings, Rejected):
        return findings
    try:
        found = msgspec.convert(findings, _MergedRow)
    except msgspec.ValidationError:
        return Rejected(reply, (NOT_MERGED,))
    if any(number >= later for number, later in pairwise(found.steps)):
        return Rejected(reply, (NOT_MERGED,))
    return MergedReply(found.source, found.steps)
