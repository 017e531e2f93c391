"""The port of what writes plans."""

from __future__ import annotations

from typing import Protocol

from codeplan.types import Checkpoint


class PlanWriter(Protocol):
    """Writes the plans of one task. Each method returns a plan's source, except ``resume_step``."""

    def draft(self) -> str:
        """The first plan."""
        ...

    def repair(self, source: str, errors: str) -> str:
        """The plan without the errors of the check. Without ``errors``, the writer looks for errors itself."""
        ...

    def refine(self, source: str, feedback: str, variables: Checkpoint) -> str:
        """A better plan, given the feedback on a run and the variables at its end."""
        ...

    def resume_step(self, previous: str, revised: str) -> int | None:
        """The step at which the writer would resume; None if it does not say."""
        ...
