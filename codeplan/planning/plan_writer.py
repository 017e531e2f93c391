"""The port of what writes plans."""

from __future__ import annotations

from typing import Protocol

from codeplan.types.plan import Checkpoint


class PlanWriter(Protocol):
    """Who writes the plans. Every method returns a plan's source, except ``resume_step``."""

    def draft(self) -> str:
        """The first plan."""
        ...

    def repair(self, source: str, errors: str) -> str:
        """The same plan without the errors that the check found; ``errors`` is empty when it is to look for them."""
        ...

    def refine(self, source: str, feedback: str, variables: Checkpoint) -> str:
        """A better plan, given what happened and the variables at that moment."""
        ...

    def resume_step(self, previous: str, revised: str) -> int | None:
        """The author's own word on the step to resume at; None where it gives none."""
        ...
