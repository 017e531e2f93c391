"""The port of what writes plans."""

from __future__ import annotations

from typing import Protocol

from codeplan.planning.feedback import RunReport


class PlanWriter(Protocol):
    """Writes the plans of one task. Each method returns a plan's source, except ``resume_step``.

    ``repair`` and ``refine`` may return only the steps and the code outside them that change, without a header.
    """

    def draft(self) -> str:
        """The first plan."""
        ...

    def repair(self, source: str, errors: str) -> str:
        """The plan without the errors of the check. Without ``errors``, the writer looks for errors itself."""
        ...

    def refine(self, report: RunReport) -> str:
        """A better plan, given what happened to the latest one."""
        ...

    def resume_step(self, previous: str, revised: str) -> int | None:
        """The step at which the writer would resume; None if it does not say."""
        ...
