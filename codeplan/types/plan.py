"""Plans, the results of their check, and their variables."""

from __future__ import annotations

from typing import Any

from codeplan.types.value import Value


class Diagnostic(Value, frozen=True):
    """One reason why the check refuses a plan. ``line`` and ``column`` count from 1; 0 means the whole plan.

    ``rule`` is a stable name to filter by; ``message`` says what to write instead.
    """

    line: int
    column: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message} [{self.rule}]"


class Step(Value, frozen=True):
    """One step of a plan: the block under ``if start_from <= number``.

    It spans the source from ``line`` to ``end_line``, inclusive. ``digest`` identifies the syntax of the step and of
    the helper functions it uses; comments and layout do not count. ``needs`` are the names that it may read before it
    sets them; ``sets`` are the names that it has certainly set at its end.
    """

    number: int
    line: int
    end_line: int
    title: str
    digest: str
    needs: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()


class Plan(Value, frozen=True):
    """A plan that passed the check. ``provides`` are the names that code outside the steps sets at every run."""

    source: str
    steps: tuple[Step, ...] = ()
    provides: tuple[str, ...] = ()

    def step(self, number: int | None) -> Step | None:
        """The step with this number, or None."""
        return next((s for s in self.steps if s.number == number), None)


class Rejected(Value, frozen=True):
    """A plan that the check refused, with at least one diagnostic. None of it ran."""

    source: str
    diagnostics: tuple[Diagnostic, ...]


class Checkpoint(Value, frozen=True):
    """A plan's variables as data: a flat table of tagged nodes. Only ``sandbox.protocol.codec`` makes and reads it.

    ``names`` maps a variable to its node; ``dropped`` maps a variable that could not be saved to the reason.
    """

    names: dict[str, int] = {}
    nodes: list[Any] = []
    dropped: dict[str, str] = {}
