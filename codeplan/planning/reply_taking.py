"""Makes a plan of a model's reply: the reply itself, or its steps merged into the previous plan."""

from __future__ import annotations

import re

from codeplan.sandbox import Sandbox
from codeplan.sandbox.host.reply_merging import STEPS_ALONE, MergedReply
from codeplan.sandbox.language.extraction import add_header, defines_solution
from codeplan.types import Rejected
from codeplan.types.value import Value

_GUARD = re.compile(r"^[ \t]*+if\b[^\n]*\bstart_from\b[^\n]*", re.MULTILINE)


class TakenReply(Value, frozen=True):
    """The plan after a reply: ``source`` is the whole plan.

    ``steps`` are the numbers of the steps that the reply held; None if it held the whole plan. They are empty if it
    changed only code outside the steps, or could not be merged. ``is_plan`` is false if ``source`` is only the text of
    steps that could not be read. ``refusal`` says why steps were not taken; the source is then the plan before.
    """

    source: str
    steps: tuple[int, ...] | None = None
    is_plan: bool = True
    refusal: Rejected | None = None


def take_reply(sandbox: Sandbox, code: str, before: str | None) -> TakenReply:
    """Take the code of a reply. ``before`` is the plan that it may change; None if there is none."""
    if before is None or _begins_at_first_step(code):
        return TakenReply(add_header(code))
    merged = sandbox.merge_reply(code, before)
    if isinstance(merged, MergedReply):
        return TakenReply(merged.source, merged.steps)
    if merged is None:
        return TakenReply(add_header(code))
    if any(d.rule == STEPS_ALONE for d in merged.diagnostics):
        return TakenReply(before, (), refusal=Rejected(before, merged.diagnostics))
    is_plan = defines_solution(code)
    return TakenReply(code, None if is_plan else (), is_plan=is_plan)


def _begins_at_first_step(code: str) -> bool:
    """Whether the code is certainly a whole plan, which needs no worker to find out."""
    first = _GUARD.search(code)
    return first is not None and first[0].strip() == "if start_from <= 1:" and defines_solution(code)
