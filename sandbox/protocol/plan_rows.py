"""Plans and refusals as a worker sends them: with a cap on the length, count and range of everything in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, TypeAlias

import msgspec

from codeplan.sandbox.limits import MAX_DIAGNOSTIC_CHARS, MAX_DIAGNOSTICS, MAX_NAME_CHARS, MAX_STEPS, shorten
from codeplan.sandbox.protocol.values import escape_surrogates
from codeplan.types import Diagnostic, Plan, Step
from codeplan.untrusted.noun_phrases import with_count

MAX_POSITION: Final = 1_000_000  # largest line and column; a worker parses no more than 64,000 bytes
MAX_STEP_NAMES: Final = 14_000  # maximum number of names that one step needs or sets: no plan has more nodes
DIGEST_CHARS: Final = 16
_MARK_CHARS: Final = 50  # room for the mark that says how much of a message is missing

_Position: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_POSITION)]
_Line: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=MAX_POSITION)]
_Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS)]
_Names: TypeAlias = Annotated[tuple[_Name, ...], msgspec.Meta(max_length=MAX_STEP_NAMES)]

_Rule: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z-]{0,49}\Z")]


class DiagnosticRow(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One reason of a refusal (see ``Diagnostic``)."""

    line: _Position
    column: _Position
    rule: _Rule
    message: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_DIAGNOSTIC_CHARS)]

    def to_diagnostic(self) -> Diagnostic:
        """The diagnostic of this row."""
        return Diagnostic(self.line, self.column, self.rule, self.message)


DiagnosticRows: TypeAlias = Annotated[list[DiagnosticRow], msgspec.Meta(min_length=1, max_length=MAX_DIAGNOSTICS)]

WarningRows: TypeAlias = Annotated[list[DiagnosticRow], msgspec.Meta(max_length=MAX_DIAGNOSTICS)]


class StepRow(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One step of a checked plan (see ``Step``)."""

    number: Annotated[int, msgspec.Meta(ge=1, le=MAX_STEPS)]
    line: _Line
    end_line: _Line
    title: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]
    digest: Annotated[str, msgspec.Meta(pattern=rf"^[0-9a-f]{{{DIGEST_CHARS}}}\Z")]
    needs: _Names
    sets: _Names
    replan_line: _Line | None = None

    @classmethod
    def from_step(cls, s: Step) -> StepRow:
        """The row of a step."""
        return cls(s.number, s.line, s.end_line, s.title, s.digest, s.needs, s.sets, s.replan_line)

    def to_step(self) -> Step:
        """The step of this row."""
        fields = (self.number, self.line, self.end_line, self.title, self.digest, self.needs, self.sets)
        return Step(*fields, self.replan_line)


class PlanRow(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A checked plan (see ``Plan``). The host verifies it against the source that it sent."""

    source: str
    steps: Annotated[list[StepRow], msgspec.Meta(max_length=MAX_STEPS)]
    provides: _Names
    warnings: WarningRows = []
    start_from: Annotated[int, msgspec.Meta(ge=2, le=MAX_STEPS)] | None = None

    @classmethod
    def from_plan(cls, plan: Plan) -> PlanRow:
        """The row of a plan."""
        steps = [StepRow.from_step(s) for s in plan.steps]
        warnings = diagnostic_rows(plan.warnings)
        start = plan.start_from if plan.start_from is not None and plan.start_from <= MAX_STEPS else None
        return cls(plan.source, steps, plan.provides, warnings, start)

    def to_plan(self) -> Plan:
        """The plan of this row."""
        steps = tuple(row.to_step() for row in self.steps)
        warnings = tuple(row.to_diagnostic() for row in self.warnings)
        return Plan(self.source, steps, self.provides, warnings=warnings, start_from=self.start_from)


def diagnostic_rows(diagnostics: Iterable[Diagnostic]) -> list[DiagnosticRow]:
    """The rows of a refusal or of warnings, within their caps.

    Long messages are cut, and the last row counts those left out.
    """
    every = list(diagnostics)
    rows = [_row(d) for d in every[:MAX_DIAGNOSTICS]]
    if len(every) > MAX_DIAGNOSTICS:
        missing = len(every) - MAX_DIAGNOSTICS + 1
        rows[-1] = DiagnosticRow(
            0, 0, "size", f"the plan has {with_count(missing, 'more problem')}; write it shorter and simpler"
        )
    return rows


def _row(diagnostic: Diagnostic) -> DiagnosticRow:
    message = shorten(escape_surrogates(diagnostic.message), MAX_DIAGNOSTIC_CHARS - _MARK_CHARS)
    return DiagnosticRow(_clamp(diagnostic.line), _clamp(diagnostic.column), diagnostic.rule, message)


def _clamp(position: int) -> int:
    return max(0, min(position, MAX_POSITION))
