"""Verifies a worker's answer about a source: the plan, or the reasons for a refusal."""

from __future__ import annotations

from collections.abc import Iterable

from codeplan.sandbox.language.fstring_repair import is_repair_of
from codeplan.sandbox.protocol.frames import ProtocolError, RejectionFrame
from codeplan.sandbox.protocol.plan_rows import PlanRow, StepRow
from codeplan.types import Diagnostic, Plan, Rejected


def count_lines(source: str) -> int:
    """The number of lines of a source, at least as large as any parser's count."""
    return source.count("\n") + source.count("\r") + 1


def verified_plan(row: PlanRow, source: str) -> Plan:
    """The plan that a worker made of this source.

    Raises ProtocolError unless it has the source (or its f-strings were repaired), steps that are numbered from 1 and
    follow one another within the source, and names that are identifiers.
    """
    if row.source != source and not is_repair_of(row.source, source):
        raise ProtocolError("the plan has another source than the one to check")
    last_line = 0
    for number, step in enumerate(row.steps, 1):
        if step.number != number:
            raise ProtocolError(f"step {number} of the plan has the number {step.number}")
        if not last_line < step.line <= step.end_line:
            raise ProtocolError(f"step {number} of the plan is not behind the step before it")
        if step.replan_line is not None and not step.line <= step.replan_line <= step.end_line:
            raise ProtocolError(f"step {number} of the plan ends with a replan outside of it")
        last_line = step.end_line
    if last_line > count_lines(row.source):
        raise ProtocolError(f"the plan has a step on line {last_line}, beyond the source")
    _require_identifiers(row)
    return row.to_plan()


def verified_rejection(frame: RejectionFrame, source: str) -> Rejected:
    """The refusal of this source. Raises ProtocolError if it names a line beyond it."""
    most = count_lines(source) + 1  # the error in an unfinished source lies after its last line
    if any(row.line > most for row in frame.diagnostics):
        raise ProtocolError("a refusal names a line beyond the source")
    return Rejected(source, tuple(row.to_diagnostic() for row in frame.diagnostics))


def parser_failure() -> Diagnostic:
    """The diagnostic for a source that crashed the parser or took too long to parse."""
    return Diagnostic(0, 0, "size", "the parser gave up on this plan; write it shorter and flatter")


def broken_check(reason: ProtocolError) -> Diagnostic:
    """The diagnostic for a source whose worker broke the protocol, so that the check has no result."""
    return Diagnostic(0, 0, "worker", f"the check of this plan broke off ({reason}); write it in a simpler way")


def _require_identifiers(row: PlanRow) -> None:
    for names in (row.provides, *_step_names(row.steps)):
        if not all(map(str.isidentifier, names)):
            raise ProtocolError("the plan has a name that is no identifier")


def _step_names(steps: Iterable[StepRow]) -> Iterable[tuple[str, ...]]:
    for step in steps:
        yield step.needs
        yield step.sets
