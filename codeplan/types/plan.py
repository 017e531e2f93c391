"""Plans, the results of their check, and their variables."""

from __future__ import annotations

from typing import Any

from codeplan.types.display import MAX_ROWS, html_table, html_text, short_repr
from codeplan.types.value import Value


class Diagnostic(Value, frozen=True):
    """One reason why the check refuses a plan. ``line`` and ``column`` count from 1; 0 means the whole plan.

    ``rule`` is a stable name to filter by; ``message`` says what to write instead.
    """

    line: int
    column: int
    rule: str
    message: str

    @property
    def place(self) -> str:
        """What follows a file's name: ``:3:5``; empty for the whole plan."""
        return f":{self.line}:{self.column}" if self.line else ""

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column else ""
        return f"{f'line {self.line}{column}: ' if self.line else ''}{self.message} [{self.rule}]"


class Fix(Value, frozen=True):
    """One change that the check made to a plan, by a rule. ``line`` counts from 1 in the text that the rule found.

    ``was`` and ``now`` are the line of code before and after; ``now`` is empty if the code was removed.
    """

    rule: str
    line: int
    was: str
    now: str

    @property
    def change(self) -> str:
        """The change in words."""
        return f"`{self.was}` became `{self.now}`" if self.now else f"`{self.was}` was removed"

    def __str__(self) -> str:
        return f"line {self.line}: {self.change}"


class Step(Value, frozen=True):
    """One step of a plan: the block under ``if start_from <= number``.

    It spans the source from ``line`` to ``end_line``, inclusive. ``digest`` identifies the syntax of the step and of
    the helper functions it uses; comments and layout do not count. ``needs`` are the names that it may read before it
    sets them; ``sets`` are the names that it has certainly set at its end. ``replan_line`` is the line of the call of
    ``replan`` that ends the block; None if the block ends otherwise. That call is not part of the digest.
    """

    number: int
    line: int
    end_line: int
    title: str
    digest: str
    needs: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    replan_line: int | None = None


class Plan(Value, frozen=True):
    """A plan that passed the check. ``provides`` are the names that code outside the steps sets at every run.

    ``source`` is the text after the ``fixes``. ``warnings`` do not keep the plan from running. ``start_from`` is the
    step at which the plan's header says to resume (``start_from=3``); None if it says 1 or nothing.
    """

    source: str
    steps: tuple[Step, ...] = ()
    provides: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    start_from: int | None = None

    def step(self, number: int | None) -> Step | None:
        """The step with this number, or None."""
        return next((s for s in self.steps if s.number == number), None)

    def __repr__(self) -> str:
        shown: dict[str, object] = {"steps": [step.title for step in self.steps]}
        shown |= {"fixes": len(self.fixes)} if self.fixes else {}
        shown |= {"warnings": [w.rule for w in self.warnings]} if self.warnings else {}
        return short_repr(self, shown | ({"start_from": self.start_from} if self.start_from else {}))

    def _repr_html_(self) -> str:
        """The plan's steps as a table, for a notebook; the source unfolds below it."""
        steps = {f"Step {step.number}": html_text(step.title) or "…" for step in self.steps[:MAX_ROWS]}
        rows = steps | {"Fixes": html_text("\n".join(map(str, self.fixes)))}
        return html_table("Plan", rows | {"Warnings": html_text("\n".join(map(str, self.warnings)))}, self.source)


class Rejected(Value, frozen=True):
    """A plan that the check refused, with at least one diagnostic. None of it ran.

    ``source`` is the text after the ``fixes``; the diagnostics are about that text.
    """

    source: str
    diagnostics: tuple[Diagnostic, ...]
    fixes: tuple[Fix, ...] = ()

    def __repr__(self) -> str:
        return short_repr(self, {"diagnostics": [str(d) for d in self.diagnostics]})

    def _repr_html_(self) -> str:
        """The diagnostics as a table, for a notebook; the source unfolds below it."""
        return html_table("Refused", {"Reasons": html_text("\n".join(map(str, self.diagnostics)))}, self.source)


def refuse_warnings(checked: Plan | Rejected) -> Plan | Rejected:
    """The result of a strict check, which refuses a plan with warnings."""
    if isinstance(checked, Plan) and checked.warnings:
        return Rejected(checked.source, checked.warnings, checked.fixes)
    return checked


class Checkpoint(Value, frozen=True):
    """A plan's variables as data: a flat table of tagged nodes. Only ``sandbox.protocol.codec`` makes and reads it.

    ``names`` maps a variable to its node; ``dropped`` maps a variable that could not be saved to the reason.
    """

    names: dict[str, int] = {}
    nodes: list[Any] = []
    dropped: dict[str, str] = {}

    def __repr__(self) -> str:
        return short_repr(self, {"names": list(self.names)} | ({"dropped": self.dropped} if self.dropped else {}))
