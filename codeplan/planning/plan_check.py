"""Checks a plan for an episode, and records what the check found and mended."""

from __future__ import annotations

from typing import Literal

from codeplan.episode.episode import Episode
from codeplan.recording.events import PlanFixed, PlanRejected, PlanWarned, WarningIssued
from codeplan.sandbox import Sandbox
from codeplan.types import Plan, Rejected, refuse_warnings

Fixes = Literal["on", "off"]
"""Whether the check mends plans, or only judges them."""


def check_plan(
    sandbox: Sandbox, episode: Episode, source: str, number: int, fixes: Fixes, *, strict: bool = False
) -> Plan | Rejected:
    """Check the episode's plan of this ``number``. The result's source is the mended text.

    With ``strict``, a plan with warnings is refused.
    """
    checked = sandbox.check(source, episode.api, fixes=fixes == "on")
    checked = refuse_warnings(checked) if strict else checked
    record_check(episode, checked, number)
    return checked


def record_notices(sandbox: Sandbox, episode: Episode) -> None:
    """Record, once per episode, how the sandbox on this machine differs from the usual one.

    A replay repeats the recorded notices.

    Raises SandboxError if no plan can run here.
    """
    notices, trace = sandbox.notices, episode.trace
    if trace.is_replaying:
        while (warning := trace.peek_recorded(WarningIssued)) is not None:
            episode.record(warning)
        return
    said = {event.message for event in trace.events if isinstance(event, WarningIssued)}
    for notice in notices:
        if notice not in said:
            episode.record(WarningIssued(message=notice))


def record_check(episode: Episode, checked: Plan | Rejected, number: int) -> None:
    """Record the fixes, the warnings and the refusal of a plan."""
    if checked.fixes:
        episode.record(PlanFixed(number=number, fixes=checked.fixes, source=checked.source))
    if isinstance(checked, Rejected):
        episode.record(PlanRejected(number=number, diagnostics=checked.diagnostics))
    elif checked.warnings:
        episode.record(PlanWarned(number=number, warnings=checked.warnings))
