"""The events of a plan: how it was written, and what it did. ``events`` has all other events."""

from __future__ import annotations

import msgspec

from codeplan.types import Checkpoint, Diagnostic, Fix, Purpose
from codeplan.types.display import is_empty, short_repr


class TraceEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    """Base of the events. ``seq`` counts from 0, ``at`` is Unix time, ``span`` the innermost open span or None."""

    seq: int = -1
    at: float = 0.0
    span: int | None = None

    def __repr__(self) -> str:
        return short_repr(self, {"seq": self.seq, **self._shown()})

    def _shown(self) -> dict[str, object]:
        """The event's own fields by name, without those that are empty."""
        parts = {n: getattr(self, n) for n in self.__struct_fields__ if n not in TraceEvent.__struct_fields__}
        return {name: part for name, part in parts.items() if not is_empty(part)}


class PlanDrafted(TraceEvent, frozen=True, tag="plan_drafted"):
    """A plan's source, extracted from a reply. ``number`` counts the plans of this episode from 1.

    ``steps`` are the numbers of the steps in a reply that held only these: ``source`` is the previous plan with these
    steps, or only their text if they could not be merged (``steps`` is then empty). None: the reply held the whole
    plan.
    """

    number: int
    origin: Purpose
    source: str
    steps: tuple[int, ...] | None = None


class PlanFixed(TraceEvent, frozen=True, tag="plan_fixed"):
    """The check mended the plan by these fixes; ``source`` is the plan after them."""

    number: int
    fixes: tuple[Fix, ...]
    source: str


class PlanWarned(TraceEvent, frozen=True, tag="plan_warned"):
    """The check accepted the plan with these warnings."""

    number: int
    warnings: tuple[Diagnostic, ...]


class PlanRejected(TraceEvent, frozen=True, tag="plan_rejected"):
    """The check refused the plan; none of it ran."""

    number: int
    diagnostics: tuple[Diagnostic, ...]


class PlanStarted(TraceEvent, frozen=True, tag="plan_started"):
    """A plan starts at ``start_from`` with the ``restored`` variables; if these come from outside, ``checkpoint``
    holds them.
    """

    number: int
    start_from: int
    restored: tuple[str, ...] = ()
    dropped: dict[str, str] = {}
    checkpoint: Checkpoint | None = None


class StepEntered(TraceEvent, frozen=True, tag="step_entered"):
    """The plan enters a step; ``checkpoint`` holds its variables at this point."""

    step: int
    title: str
    checkpoint: Checkpoint


class TextPrinted(TraceEvent, frozen=True, tag="text_printed"):
    """Output of the plan. Untrusted."""

    text: str


class PlanFailed(TraceEvent, frozen=True, tag="plan_failed"):
    """An assertion failed, or the plan raised an exception; ``error`` is its name."""

    step: int | None
    line: int | None
    error: str
    message: str
    checkpoint: Checkpoint


class PlanStopped(TraceEvent, frozen=True, tag="plan_stopped"):
    """A limit of the sandbox stopped the plan."""

    limit: str
    value: float
    allowed: float
    step: int | None
    line: int | None
    message: str


class PlanReplanned(TraceEvent, frozen=True, tag="plan_replanned"):
    """The plan asked the model for further steps, or for another plan. If ``step_done``, the next plan continues after
    the step.
    """

    step: int | None
    line: int | None
    reason: str
    step_done: bool
    checkpoint: Checkpoint


class PlanGaveUp(TraceEvent, frozen=True, tag="plan_gave_up"):
    """The plan considers the task impossible."""

    step: int | None
    line: int | None
    reason: str
    checkpoint: Checkpoint


class PlanFinished(TraceEvent, frozen=True, tag="plan_finished"):
    """The plan ran to its end. Only the environment says whether the task succeeded."""

    step: int | None
