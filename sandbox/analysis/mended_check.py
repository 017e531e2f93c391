"""Checks a plan, mends what can be mended without a model, and checks the result again."""

from __future__ import annotations

import msgspec

from codeplan.sandbox.analysis.fixes.mending import mend_plan
from codeplan.sandbox.language.checking import check_and_compile
from codeplan.sandbox.language.compilation import Program
from codeplan.types import AgentApi, Plan, Rejected

BEYOND_MENDING = frozenset({"size", "syntax", "no-python"})
"""Rules of the check after which there is no tree to mend."""

MENDED_WARNINGS = frozenset({"assert-tuple"})
"""Warnings that a fix may answer."""


def check_and_mend(source: str, api: AgentApi, *, fixes: bool = True) -> tuple[Plan, Program] | Rejected:
    """Check and compile a plan. Where the check finds something, mend the plan and check the result.

    Without ``fixes`` the plan stays as it is.
    """
    found = check_and_compile(source, api)
    if not fixes or not _is_mendable(found):
        return found
    mended, applied = mend_plan(source, api)
    if not applied:
        return found
    again = check_and_compile(mended, api)
    if isinstance(again, Rejected):
        return msgspec.structs.replace(again, fixes=applied)
    return msgspec.structs.replace(again[0], fixes=applied), again[1]


def _is_mendable(found: tuple[Plan, Program] | Rejected) -> bool:
    if isinstance(found, Rejected):
        return not any(d.rule in BEYOND_MENDING for d in found.diagnostics)
    return any(w.rule in MENDED_WARNINGS for w in found[0].warnings)
