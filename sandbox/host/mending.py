"""Mends faults with only one possible correction: an analysis in a worker makes the fixes, and the host verifies its
answer.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from codeplan.sandbox.limits import MAX_FIX_CHARS, MAX_FIXES
from codeplan.types import AgentApi, Fix, Plan, Rejected

BEYOND_MENDING: Final = frozenset({"size", "syntax", "no-python", "empty", "text", "worker"})
"""Rules of the check whose failure leaves no syntax tree to mend."""

MENDED_WARNINGS: Final = frozenset({"assert-tuple"})
"""Rules of warnings that a fix may remove."""

_Line = Annotated[str, msgspec.Meta(max_length=MAX_FIX_CHARS)]


class _FixRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change to a plan (see ``Fix``)."""

    rule: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z-]{0,49}\Z")]
    line: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
    was: _Line
    now: _Line


class MendedPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The analysis's answer: the plan after the fixes. Without fixes, ``source`` is the given source."""

    source: str
    fixes: Annotated[tuple[_FixRow, ...], msgspec.Meta(max_length=MAX_FIXES)]

    def to_fixes(self) -> tuple[Fix, ...]:
        """The fixes as values, in the order in which the analysis made them; empty if nothing was fixed."""
        return tuple(Fix(row.rule, row.line, row.was, row.now) for row in self.fixes)


def is_mendable(checked: Plan | Rejected) -> bool:
    """Whether fixes could change the result of a check."""
    if isinstance(checked, Rejected):
        return not any(d.rule in BEYOND_MENDING for d in checked.diagnostics)
    return any(w.rule in MENDED_WARNINGS for w in checked.warnings)


def mending_arguments(api: AgentApi) -> dict[str, Any]:
    """The analysis's arguments from an agent's API: the names of its methods, and the aliases of methods by name."""
    return {"names": list(api.names), "aliases": dict(api.aliases)}


def verified_mending(findings: object) -> MendedPlan | None:
    """The mended plan; None if the worker's answer is malformed, or if there is nothing to fix."""
    try:
        found = msgspec.convert(findings, MendedPlan)
    except msgspec.ValidationError:
        return None
    return found if found.fixes else None
