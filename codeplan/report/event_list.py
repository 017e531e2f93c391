"""An episode as a numbered list: one line for each event. The numbers are what ``codeplan fork --at`` takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, get_args

import msgspec

from codeplan.recording import events
from codeplan.recording.events import ActionTaken, CallBegun, Event, SpanClosed
from codeplan.report.event_view import EventView, EventViewer, PairsBlock, ResultBlock, TextBlock
from codeplan.report.summary import end_state
from codeplan.untrusted.terminal import one_line

Part = Literal["plans", "actions", "model", "failures", "other"]
"""What an event belongs to."""

PARTS: Final[tuple[Part, ...]] = get_args(Part)
MAX_LINE: Final = 1000
"""Characters of an event that a line keeps."""

_PLANS: Final = (
    *(events.PlanDrafted, events.PlanFixed, events.PlanWarned, events.PlanStarted, events.StepEntered),
    *(events.TextPrinted, events.PlanFinished, events.PlanReplanned),
)
_FAILURES: Final = (
    *(events.PlanRejected, events.PlanFailed, events.PlanStopped, events.PlanGaveUp),
    *(events.ModelCallFailed, events.ToolFailed, events.WarningIssued),
)
_MODEL: Final = (events.ModelCalled, events.TextsEmbedded)
_ACTIONS: Final = (
    *(events.EnvironmentReset, events.ActionTaken),
    *(events.CallDecided, events.CallBegun, events.DoubtDecided),
)


class EventRow(msgspec.Struct, frozen=True):
    """An event as one line of a list. ``number`` is its ``seq`` in the trace."""

    number: int
    part: Part
    text: str


def event_rows(recorded: Iterable[Event]) -> Iterator[EventRow]:
    """Yield the row of each event, in order. The ends of spans have none, nor have calls whose answer follows."""
    viewer = EventViewer()
    begun: EventRow | None = None
    for event in recorded:
        row = EventRow(event.seq, _part(event), one_line(_text(viewer.view(event)), MAX_LINE))
        if isinstance(event, CallBegun):
            begun = row
        elif not isinstance(event, SpanClosed):
            if begun and not isinstance(event, ActionTaken):
                yield begun
            begun = None
            yield row
    if begun:
        yield begun


def _part(event: Event) -> Part:
    if isinstance(event, _FAILURES):
        return "failures"
    if isinstance(event, _ACTIONS):
        return "actions"
    if isinstance(event, _MODEL):
        return "model"
    return "plans" if isinstance(event, _PLANS) else "other"


_ENDS: Final = {"success": "Success", "claimed": "Claimed", "failure": "Not solved"}


def _text(view: EventView) -> str:
    """The title and the texts of a view, without those that are worth a look on demand only."""
    shown = [view.title] if view.title else []
    for block in view.blocks:
        match block:
            case TextBlock(role="action", text=text):
                shown.append(f"> {text}")
            case TextBlock(role="answer" | "observation", text=text):
                shown.append(f"-> {text}")
            case TextBlock(role="output", text=text):
                shown.append(f"| {text}")
            case TextBlock(role=role, text=text) if role not in ("reply", "traceback"):
                shown.append(text)
            case PairsBlock(facts=facts):
                shown += [f"{name}: {value}" for name, value in facts.items()]
            case ResultBlock(result=result):
                shown.append(_ENDS[end_state(result)] + ("" if result.success else f": {result.reason}"))
    return "  ".join(shown)
