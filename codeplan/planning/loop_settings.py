"""The settings of the refinement loop."""

from __future__ import annotations

from typing import Literal

import msgspec

from codeplan.errors import UsageError
from codeplan.planning.plan_run import Fixes
from codeplan.planning.resume_point import ResumeState

ResumeBy = Literal["syntax", "model"]
CodeCheck = Literal["on-error", "always"]
AfterFailure = Literal["resume", "restart"]


class LoopSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the loop.

    The defaults are the paper's limits. Where code can do the work of one of the paper's model calls, code does it.

    ``tries`` limits the runs of a plan; from run ``start_over_from`` on, plans start at step 1 again, but never where
    actions are real. ``resume_by`` finds the step to resume at by a comparison of syntax, or asks the model, as in the
    paper. ``code_check`` sends a new plan back for repair if the check refuses it, or always, as in the paper (which
    then relies on refinement alone). ``resume_state`` is what the failed step resumes with: the variables at the
    failure, or those at its entry. ``fixes`` says whether the check mends plans without a model.
    ``after_failure="restart"`` is for comparison: it resets the environment and starts each plan at step 1. A plan's
    first ``replans`` replans cost no try; each further one does. The loop ends after ``no_progress`` refinements in a
    row that changed nothing (0: never).

    Raises: UsageError: ``tries`` or ``start_over_from`` is below 1, ``replans`` or ``no_progress`` below 0.
    """

    tries: int = 6
    start_over_from: int = 4
    resume_by: ResumeBy = "syntax"
    code_check: CodeCheck = "on-error"
    resume_state: ResumeState = "failure"
    after_failure: AfterFailure = "resume"
    fixes: Fixes = "on"
    replans: int = 3
    no_progress: int = 2

    def __post_init__(self) -> None:
        for name, least in {"tries": 1, "start_over_from": 1, "replans": 0, "no_progress": 0}.items():
            if (value := getattr(self, name)) < least:
                raise UsageError(f"{name} must be {least} or more (got {value})")
