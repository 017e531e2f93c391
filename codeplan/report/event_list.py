"""An episode as a numbered list: one line for each event. The numbers are what ``codeplan fork --at`` takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, get_args

import msgspec

from codeplan.recording import events
from codeplan.recording.events import ActionTaken, CallBegun, Event, SpanClosed
from codeplan.report.event_view import Block, EventView, EventViewer, PairsBlock, ResultBlock, TextBlock
from codeplan.report.summary import end_state
from codeplan.untrusted.terminal import one_line

Part = Literal["plans", "actions", "model", "failures", "other"]
"""The groups of events."""

PARTS: Final[tuple[Part, ...]] = get_args(Part)
MAX_LINE: Final = 1000
"""Maximum number of characters of an event in a line."""

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
    """Yield the row of each event, in order.

    The ends of spans have none, nor have calls whose answer follows, nor a step's title that the plan prints again.
    """
    viewer = EventViewer()
    begun: EventRow | None = None
    step_title = ""
    for event in recorded:
        if isinstance(event, events.StepEntered):
            step_title = f"[Step {event.step}] {event.title}"
        elif isinstance(event, events.TextPrinted) and event.text.strip() == step_title:
            continue
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


_SIGNS: Final = {"action": ">", "answer": "->", "observation": "->", "output": "|"}
_ENDS: Final = {"success": "Success", "claimed": "Claimed", "failure": "Not solved"}


def _text(view: EventView) -> str:
    """The title and the texts of a view, without those that are shown on demand only."""
    line = view.title
    for sign, text in (part for block in view.blocks for part in _parts(block)):
        if sign == ";" or (sign == ":" and ": " in line):
            line = f"{line.removesuffix('.')};" if line else ""
        elif sign == ":":
            line += sign if line else ""
        else:
            text = f"{sign} {text}"
        line += f" {text}" if line else text
    return line


def _parts(block: Block) -> Iterator[tuple[str, str]]:
    """The texts of a block, each with the sign that separates it from what stands before."""
    match block:
        case TextBlock(role=role, text=text) if role not in ("reply", "traceback"):
            yield _SIGNS.get(role, ":"), text
        case PairsBlock(facts=facts):
            yield from ((";", f"{name}: {value}") for name, value in facts.items())
        case ResultBlock(result=result):
            yield ":", _ENDS[end_state(result)] + ("" if result.success else f": {result.reason}")
        case _:
            pass
