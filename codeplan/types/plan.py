"""A plan, its check, and the variables it leaves."""

from __future__ import annotations

from typing import Any

from codeplan.types.value import Value


class Diagnostic(Value, frozen=True):
    """One reason why a plan is refused. ``line`` and ``column`` count from 1; 0 means the whole plan.

    ``rule`` is a stable name to filter by; ``message`` is a sentence that says what to write instead.
    """

    line: int
    column: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message} [{self.rule}]"


class Step(Value, frozen=True):
    """One step of a plan: the block under ``if start_from <= number``.

    ``line`` to ``end_line`` is its range in the source, both included. ``digest`` changes when the step's
    code, or that of a helper function it uses, changes as syntax; comments and layout do not count.
    ``needs`` are the names that it reads before it has surely set them itself; ``sets`` those that it has surely set
    when it ends.
    """

    number: int
    line: int
    end_line: int
    title: str
    digest: str
    needs: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()


class Plan(Value, frozen=True):
    """A plan that passed the check. ``provides`` are the names that code outside the steps sets anew at each run."""

    source: str
    steps: tuple[Step, ...] = ()
    provides: tuple[str, ...] = ()

    def step(self, number: int | None) -> Step | None:
        """The step with this number; None where there is none."""
        return next((s for s in self.steps if s.number == number), None)


class Rejected(Value, frozen=True):
    """A plan that was refused before any of it ran, with at least one diagnostic."""

    source: str
    diagnostics: tuple[Diagnostic, ...]


class Checkpoint(Value, frozen=True):
    """A plan's variables as data: a flat table of tagged nodes, made and read by ``sandbox.protocol.codec`` only.

    ``names`` maps a variable to its node; ``dropped`` maps a variable that could not be saved to the reason.
    """

    names: dict[str, int] = {}
    nodes: list[Any] = []
    dropped: dict[str, str] = {}
