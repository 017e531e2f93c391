"""Renders events for the page: plain data in which every text is visible and bounded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from codeplan.recording import events
from codeplan.recording.events import Event
from codeplan.report import event_view
from codeplan.report.event_view import Block, EventViewer
from codeplan.report.json_output import to_plain_data
from codeplan.report.pages.plan_text import diff_rows, plan_layout
from codeplan.report.pages.trace_index import UnreadableEvent
from codeplan.report.pages.variable_text import dropped_variables, variable_texts
from codeplan.report.pages.visible_text import clip, label, make_visible
from codeplan.report.summary import end_state
from codeplan.types import Checkpoint
from codeplan.untrusted.differences import DiffEffort
from codeplan.untrusted.values import value_text

_MAX_VARIABLE_CHARACTERS = 2000
_MAX_TITLE_CHARACTERS = 2000
_MAX_NAMES = 200
_MAX_DIAGNOSTICS = 50
_MAX_DEPTH, _MAX_ITEMS, _MAX_TEXT = 6, 500, 2000  # of data, such as the settings of an episode

EventItem = dict[str, Any]
PictureAddress = Callable[[int, str], str | None]
"""The address of a picture, from the event's number and its file; None if it cannot be shown, empty if it has no room.
"""


class EventRenderer:
    """Renders consecutive events of an episode.

    ``max_characters`` cuts each text. ``plan`` is the source of the plan before the first event, or None. Diffs compare
    with the latest plan, within ``effort``; changed variables with the latest checkpoint.
    """

    def __init__(
        self,
        picture: PictureAddress,
        max_characters: int,
        started: float = 0.0,
        plan: str | None = None,
        effort: DiffEffort | None = None,
    ) -> None:
        self._picture, self._max_characters, self._started = picture, max_characters, started
        self._effort = effort or DiffEffort()
        self._viewer = EventViewer(plan)
        self._variables: dict[str, str] = {}

    def render(self, number: int, event: Event | UnreadableEvent) -> EventItem:
        """The page's data for the event with this number; ``state`` holds the changes of state from then on."""
        if isinstance(event, UnreadableEvent):
            title = f"This event cannot be shown ({event.size:,} bytes): {event.reason}"
            return {"n": number, "event": "unreadable", "title": label(title), "tone": "bad", "blocks": []}
        view = self._viewer.view(event)
        state = _state_after(event)
        blocks = [self._block(number, block, state) for block in view.blocks]
        item: EventItem = {
            "n": number,
            "event": event.__struct_config__.tag,
            "at": round(event.at - self._started, 3),
            "title": label(view.title, _MAX_TITLE_CHARACTERS),
            "tone": view.tone,
            "blocks": blocks,
        }
        if isinstance(event, events.SpanOpened | events.SpanClosed):
            item["id"] = event.id
        return item | _present(span=event.span, aside=view.aside, state=state)

    def _block(self, number: int, block: Block, state: EventItem) -> EventItem:
        match block:
            case event_view.TextBlock():
                return {"type": "text", "role": block.role, "text": self._clip(block.text)}
            case event_view.PlanBlock():
                state["plan"] = {"plan": block.number, **plan_layout(block.source)}
                diff = None if block.before is None else diff_rows(block.before, block.source, self._effort)
                return {"type": "plan", "diff": diff}
            case event_view.FixesBlock():
                state["plan"] = {"plan": block.number, **plan_layout(block.source)}
                mended = [visible_data(to_plain_data(f)) for f in block.fixes[:_MAX_DIAGNOSTICS]]
                return {"type": "fixes", "fixes": mended}
            case event_view.DiagnosticsBlock():
                shown = [visible_data(to_plain_data(d)) for d in block.diagnostics[:_MAX_DIAGNOSTICS]]
                return {"type": "diagnostics", "diagnostics": shown}
            case event_view.VariablesBlock():
                state["variables"] = self._render_variables(block.checkpoint)
                return {"type": "variables"}
            case event_view.PromptBlock():
                messages = [[label(m["role"], 20), self._clip(m["content"])] for m in block.messages]
                about = ", ".join(part for part in (block.template, block.model) if part)
                return {"type": "prompt", "messages": messages, "about": label(about)}
            case event_view.PairsBlock():
                return {"type": "pairs", "facts": visible_data(block.facts), "settings": visible_data(block.settings)}
            case event_view.PictureBlock():
                address = self._picture(number, block.file)
                picture = {"type": "picture", "file": label(block.file), "picture": address or None}
                return picture | _present(left_out=address == "")
            case event_view.ResultBlock():
                state_name = "broken" if block.broken_off else end_state(block.result)
                reason = "" if block.result.success else self._clip(block.result.reason)
                return {"type": "result", "state": state_name, "reason": reason}

    def _render_variables(self, checkpoint: Checkpoint) -> EventItem:
        """The variables as [name, text, whether it is new or differs from the checkpoint before]."""
        shown = variable_texts(checkpoint, min(_MAX_VARIABLE_CHARACTERS, self._max_characters))
        now = shown.texts
        rows = [[make_visible(name), text, self._variables.get(name) != text] for name, text in now.items()]
        self._variables = now
        lost = dict(list(dropped_variables(checkpoint).items())[:_MAX_NAMES])
        return {"rows": rows} | _present(more=len(shown.unshown) + shown.unnamed, dropped=lost)

    def _clip(self, text: str) -> Any:
        return clip(text, self._max_characters)


def _state_after(event: Event) -> EventItem:
    """The event's changes to the plan's state: step, line of a failure, step at which the plan started."""
    match event:
        case events.PlanDrafted():
            return {"step": None, "line": None, "from": 1}
        case events.PlanStarted():
            return {"step": None, "line": None, "from": event.start_from}
        case events.StepEntered():
            return {"step": event.step, "line": None}
        case events.PlanFailed() | events.PlanStopped() | events.PlanReplanned() | events.PlanGaveUp():
            return {"step": event.step, "line": event.line}
        case _:
            return {}


def visible_data(value: Any, depth: int = 0) -> Any:
    """Plain data with every text in it visible and on one line; deep and long parts as one text."""
    if isinstance(value, str):
        return label(value, _MAX_TEXT)
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth >= _MAX_DEPTH or len(value) > _MAX_ITEMS:
        return label(value_text(value, _MAX_TEXT), _MAX_TEXT)
    if isinstance(value, Mapping):
        return {label(str(k), 100): visible_data(v, depth + 1) for k, v in value.items()}
    return [visible_data(v, depth + 1) for v in value]


def _present(**values: Any) -> EventItem:
    """The values that are neither None, zero nor empty."""
    return {name: value for name, value in values.items() if value}
