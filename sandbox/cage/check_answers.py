"""Answers a job to check a plan, in the process that received it."""

from __future__ import annotations

from codeplan.sandbox.language.checking import check_and_compile
from codeplan.sandbox.limits import MAX_CODE_BYTES, MAX_OUTLINE_BYTES
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.plan_rows import PlanRow, diagnostic_rows
from codeplan.types import Diagnostic, Rejected


def answer_check(job: frames.CheckJob) -> frames.AcceptanceFrame | frames.RejectionFrame:
    """Check and compile the plan. Nothing of it runs."""
    found = check_and_compile(job.source, job.api)
    if isinstance(found, Rejected):
        return frames.RejectionFrame(diagnostic_rows(found.diagnostics))
    plan, program = found
    return _acceptance(PlanRow.from_plan(plan), program.pack())


def _acceptance(plan: PlanRow, code: bytes) -> frames.AcceptanceFrame | frames.RejectionFrame:
    size = frames.packed_size([plan.steps, plan.provides])
    if size > MAX_OUTLINE_BYTES:
        message = (
            f"the names in all steps take {size:,} bytes, more than {MAX_OUTLINE_BYTES:,}; use fewer steps and names"
        )
        return frames.RejectionFrame(diagnostic_rows([Diagnostic(0, 0, "size", message)]))
    return frames.AcceptanceFrame(plan, code if len(code) <= MAX_CODE_BYTES else b"")
