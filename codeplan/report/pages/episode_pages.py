"""One episode for the page: its head, and its events page by page."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from codeplan.recording import events
from codeplan.recording.events import Event
from codeplan.report import event_view
from codeplan.report.event_view import OUTCOME_WORDS, Block, EventViewer, end_state
from codeplan.report.json_output import to_plain_data
from codeplan.report.pages.html_page import (
    clip,
    diff_rows,
    dropped_variables,
    label,
    make_visible,
    plan_layout,
    variable_texts,
)
from codeplan.report.pages.report_source import ReportEpisode
from codeplan.report.pages.trace_index import EventHeader, OutcomeHeader, TraceIndex, UnreadableEvent
from codeplan.runner.episodes import TRACE_NAME
from codeplan.types import Checkpoint
from codeplan.untrusted.comparison import DiffEffort
from codeplan.untrusted.files import read_bytes
from codeplan.untrusted.values import value_text

_MAX_ROWS = 60
_MAX_STEPS = 60
_MAX_SPANS = 200


def plan_rows(course_events: Iterable[tuple[int, EventHeader]]) -> list[dict[str, Any]]:
    """One row for each plan that ran or was refused, in order.

    ``n`` is the number of its first event, ``plan`` the plan's number and ``from`` its first step. ``steps`` are
    [step, event, title] of the steps it entered. ``end`` has the outcome (a value of ``OUTCOME_WORDS``, or
    ``refused``), event, step, line and message; it is None if the trace has no end.
    """
    rows: list[dict[str, Any]] = []
    for number, header in course_events:
        if header.event in ("plan_started", "plan_rejected"):
            if len(rows) == _MAX_ROWS:
                break
            refused = header.event == "plan_rejected"
            end = {"outcome": "refused", "n": number, "step": None, "line": None, "message": ""} if refused else None
            rows.append({"n": number, "plan": header.number, "from": header.start_from or 1, "steps": [], "end": end})
        elif not rows or rows[-1]["end"]:
            continue
        elif header.event == "step_entered":
            if len(rows[-1]["steps"]) < _MAX_STEPS:
                rows[-1]["steps"].append([header.step, number, label(header.title)])
        elif header.outcome is not None and header.outcome.type in OUTCOME_WORDS:
            ended = header.outcome
            place = {"n": number, "step": ended.step, "line": ended.line}
            rows[-1]["end"] = {"outcome": OUTCOME_WORDS[ended.type], **place, "message": _message(ended)}
    return rows


def span_rows(course_events: Iterable[tuple[int, EventHeader]]) -> list[list[Any]]:
    """[id, kind, name, event, depth] of each span, in the order of their starts."""
    rows: list[list[Any]] = []
    depth: dict[int | None, int] = {None: -1}
    for number, header in course_events:
        if header.event == "span_opened" and header.id is not None and len(rows) < _MAX_SPANS:
            depth[header.id] = depth.get(header.span, -1) + 1
            rows.append([header.id, label(header.kind), label(header.name), number, min(depth[header.id], 20)])
    return rows


def _message(ended: OutcomeHeader) -> str:
    if ended.type == "failed" and ended.error != "AssertionError":
        return label(f"{ended.error}: {ended.message}")
    return ended.reason or ended.message


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
    with the latest plan, within ``effort``; changed variables with the latest checkpoint. ``begun`` are the calls that
    are open before the first event.
    """

    def __init__(
        self,
        picture: PictureAddress,
        max_characters: int,
        started: float = 0.0,
        plan: str | None = None,
        effort: DiffEffort | None = None,
        begun: Sequence[events.CallBegun] = (),
    ) -> None:
        self._picture, self._max_characters, self._started = picture, max_characters, started
        self._effort = effort or DiffEffort()
        self._viewer = EventViewer(plan, begun)
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
        case events.PlanEnded(outcome=ended) if ended.fault is not None:
            return {"step": ended.step, "line": ended.line}
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


class EpisodeView:
    """An episode, readable in pages.

    ``picture`` gives the address of a picture from the number of its event and its file. ``max_characters`` cuts each
    text. All diffs of the episode share ``effort``; without it, those of each page have an effort of their own.
    """

    def __init__(
        self, episode: ReportEpisode, picture: PictureAddress, max_characters: int, effort: DiffEffort | None = None
    ) -> None:
        self.episode, self._picture, self._max_characters, self._effort = episode, picture, max_characters, effort
        self.index = TraceIndex(episode.folder / TRACE_NAME, episode.root)

    @property
    def folder(self) -> Path:
        """The folder of the episode's trace."""
        return self.episode.folder

    def head(self) -> dict[str, Any]:
        """The task, the result, the course and the number of pages, without reading any event.

        Reads the trace's new events since the last call.

        Raises: UsageError: the trace cannot be read.
        """
        index = self.index.refresh()
        result = self.episode.result
        fields = to_plain_data(result) | {"plan": None, "trace": None, "task": None} if result else None
        return {
            "task": visible_data(to_plain_data(self.episode.task)),
            "state": self.episode.state,
            "result": visible_data(fields),
            "started": self.episode.started_at,
            "version": label(self.episode.codeplan_version, 40),
            "events": index.count,
            "bytes": index.size,
            "plans": len(index.plan_offsets),
            "pages": [page.first for page in index.pages],
            "course": plan_rows(index.course_events),
            "spans": span_rows(index.course_events),
        }

    def page(self, number: int) -> dict[str, Any]:
        """The events of a page, and the plan, step and spans at its start."""
        page = self.index.pages[number]
        before = self.index.plan_at(page.context.plan_event)
        begun = self.index.calls_at(page.context)
        renderer = self._renderer(before.source if before else None, self._max_characters, begun)
        items = [
            renderer.render(page.first + at, event) | _present(answered=self._is_answered(event))
            for at, event in enumerate(self.index.read(number))
        ]
        plan = {"plan": before.number, "n": page.context.plan_event, **plan_layout(before.source)} if before else None
        return {
            "first": page.first,
            "items": items,
            "context": {"plan": plan, "step": page.context.step, "spans": list(page.context.spans)},
        }

    def event(self, number: int) -> Event | UnreadableEvent | None:
        """The event with this number, or None."""
        if not 0 <= number < self.index.count:
            return None
        at = self.index.page_of(number)
        return self.index.read(at)[number - self.index.pages[at].first]

    def item(self, number: int, max_characters: int) -> EventItem | None:
        """The page's data for one event, or None; ``max_characters`` cuts each text."""
        event = self.event(number)
        if event is None:
            return None
        begun = self._calls_before(number) if isinstance(event, events.CallAnswered) else ()
        return self._renderer(None, max_characters, begun).render(number, event)

    def _is_answered(self, event: Event | UnreadableEvent) -> bool:
        """Whether this is the beginning of a call whose answer follows, which shows the call."""
        return isinstance(event, events.CallBegun) and not self.index.is_open(event.id)

    def _calls_before(self, number: int) -> list[events.CallBegun]:
        """The calls that begin on this event's page before it, and those that were open at the page's start."""
        page = self.index.pages[at := self.index.page_of(number)]
        earlier = self.index.read(at)[: number - page.first]
        return self.index.calls_at(page.context) + [e for e in earlier if isinstance(e, events.CallBegun)]

    def _renderer(self, plan: str | None, max_characters: int, begun: Sequence[events.CallBegun] = ()) -> EventRenderer:
        return EventRenderer(self._picture, max_characters, self.index.started_at, plan, self._effort, begun)


# ------------------------------------------------------------------ pictures

MAX_PICTURE_BYTES = 1 << 20

_PNG = b"\x89PNG\r\n\x1a\n"


def read_png(folder: Path, file: str) -> bytes | None:
    """A picture that the trace in ``folder`` names. None if it is not a PNG, too large, or outside the folder."""
    try:
        content = read_bytes(folder / file, MAX_PICTURE_BYTES, folder)
    except OSError:
        return None
    return content if content.startswith(_PNG) else None


class EmbeddedPictures:
    """The pictures of an episode as data URLs within the room of a page of events.

    A trace may name one picture many times, and equal pictures take almost no room when they are compressed. ``size``
    is the number of characters of the page's pictures, ``left_out`` how many pictures had no room.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.start_page(0)

    def start_page(self, room: int) -> None:
        """Begin a page whose pictures have ``room`` characters together."""
        self._room, self.size, self.left_out = room, 0, 0

    def address(self, event: int, file: str) -> str | None:
        """The picture as a data URL; None as for ``read_png``, and empty from the first that has no room."""
        if self.left_out:
            self.left_out += 1
            return ""
        content = read_png(self._folder, file)
        if content is None:
            return None
        url = "data:image/png;base64," + base64.b64encode(content).decode()
        if self.size + len(url) > self._room:
            self.left_out = 1
            return ""
        self.size += len(url)
        return url
